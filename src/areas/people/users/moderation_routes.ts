/** What administrators decide about accounts: to shut them out, put them to sleep, and let them in. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable, one, post } from '../../../http/index.ts';
import { activateUser, approveUser, banUser, blockUser, deactivateUser, unbanUser, unblockUser } from './moderation_actions.ts';

/** An action that succeeds or is refused. */
const decision = (name: string, summary: string, decide: (db: Database, id: number) => Promise<void>) =>
  post(`/users/:id/${name}`, {
    summary,
    access: admin,
    input: { id: Id },
    returns: one(Type.Boolean()),
    handle: async ({ db, input }) => {
      await decide(db, input.id);
      return true;
    },
  });

export const userModerationRoutes = [
  post('/users/:id/block', {
    summary: 'Block a user; null when he was blocked already',
    access: admin,
    input: { id: Id },
    returns: one(nullable(Type.Boolean())),
    handle: async ({ db, caller, input }) => ((await blockUser(db, caller.id, input.id)) ? true : null),
  }),
  post('/users/:id/unblock', {
    summary: 'Unblock a user; false when he was not blocked',
    access: admin,
    input: { id: Id },
    returns: one(Type.Boolean()),
    handle: ({ db, input }) => unblockUser(db, input.id),
  }),
  post('/users/:id/deactivate', {
    summary: 'Put an account to sleep that nobody has used for 90 days; null when it slept already',
    access: admin,
    input: { id: Id },
    returns: one(nullable(Type.Boolean())),
    handle: async ({ db, input }) => ((await deactivateUser(db, input.id)) ? true : null),
  }),
  decision('activate', 'Wake an account up', activateUser),
  decision('ban', 'Ban a user', banUser),
  decision('unban', 'Lift the ban on a user', unbanUser),
  post('/users/:id/approve', {
    summary: 'Admit who has asked for an account',
    access: admin,
    input: { id: Id },
    returns: one(Type.Object({ message: Type.String(), success: Type.Boolean() })),
    handle: async ({ db, input }) => {
      await approveUser(db, input.id);
      return { message: 'Success', success: true };
    },
  }),
];
