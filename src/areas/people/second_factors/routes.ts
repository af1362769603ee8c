/** Removing the second factors of users who have lost them. */
import { admin } from '../../../access/index.ts';
import { badRequest, forbidden, found, Id, nothing, patch } from '../../../http/index.ts';
import { removeAllFactors } from './change_actions.ts';

export const secondFactorRoutes = [
  patch('/users/:id/disable_two_factor', {
    operation: 'disableTwoFactor',
    summary: 'Remove the second factors of a user',
    description:
      'Their sessions end, and they get mail. An administrator loses theirs by `coppice user second-factor` alone.',
    access: admin,
    input: { id: Id },
    returns: nothing,
    refusals: {
      400: '400 Bad request - Two-factor authentication is not enabled for this user',
      403: '403 Forbidden - Two-factor authentication for admins cannot be disabled via the API. Use the Rails console',
      404: '404 User Not Found',
    },
    handle: ({ db, input }) =>
      db.transaction().execute(async (tx) => {
        const user = await tx.selectFrom('users').select(['id', 'admin']).where('id', '=', input.id).executeTakeFirst();
        const { id, admin: isAdmin } = found('User', user);
        if (isAdmin)
          throw forbidden('Two-factor authentication for admins cannot be disabled via the API. Use the Rails console');
        if (!(await removeAllFactors(tx, id)))
          throw badRequest('400 Bad request - Two-factor authentication is not enabled for this user');
      }),
  }),
];
