/** The removal of users: they are shut out at once, and removed by a job. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { del, Id, nothing, one, post } from '../../../http/index.ts';
import { rejectUser, requestRemoval } from './removal_actions.ts';

export const userRemovalRoutes = [
  del('/users/:id', {
    summary: 'Remove a user; what he has contributed stays',
    access: admin,
    input: {
      id: Id,
      hard_delete: Type.Boolean({
        default: false,
        description: 'Whether what he has written is removed, too, and the groups that only he owns',
      }),
    },
    returns: nothing,
    handle: ({ db, input: { id, hard_delete }, unmodified_since }) =>
      requestRemoval(db, id, { hard: hard_delete, unmodified_since }),
  }),
  post('/users/:id/reject', {
    summary: 'Turn somebody down who has asked for an account',
    access: admin,
    input: { id: Id },
    returns: one(Type.Object({ message: Type.String(), success: Type.Boolean() })),
    handle: async ({ db, input }) => {
      await rejectUser(db, input.id);
      return { message: 'Success', success: true };
    },
  }),
];
