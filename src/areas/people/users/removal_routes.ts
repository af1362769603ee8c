/** Deleting and rejecting users. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { del, Id, nothing, one, post } from '../../../http/index.ts';
import { rejectUser, requestRemoval } from './removal_actions.ts';

export const userRemovalRoutes = [
  del('/users/:id', {
    operation: 'deleteUser',
    audits: ['user_destroyed'],
    summary: 'Delete a user',
    description:
      'The user is blocked at once, and a job deletes the account with the projects in its namespace. Contributions in other projects go to the ghost user, unless `hard_delete` is set.',
    access: admin,
    input: {
      id: Id,
      hard_delete: Type.Boolean({
        default: false,
        description: 'Whether to also delete what they have written and the groups that they alone own',
      }),
    },
    conditional: true,
    returns: nothing,
    refusals: {
      404: '404 User Not Found',
      409: 'User cannot be removed while is the sole-owner of a group',
    },
    handle: ({ db, input: { id, hard_delete }, unmodified_since }) =>
      requestRemoval(db, id, { hard: hard_delete, unmodified_since }),
  }),
  post('/users/:id/reject', {
    operation: 'rejectUser',
    audits: ['user_rejected'],
    summary: 'Reject a pending user account',
    access: admin,
    input: { id: Id },
    returns: one(Type.Object({ message: Type.String(), success: Type.Boolean() })),
    refusals: { 404: '404 User Not Found', 409: 'User does not have a pending request' },
    handle: async ({ db, input }) => {
      await rejectUser(db, input.id);
      return { message: 'Success', success: true };
    },
  }),
];
