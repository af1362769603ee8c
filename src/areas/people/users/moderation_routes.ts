/** Blocking, deactivating, banning and approving users. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable, one, post } from '../../../http/index.ts';
import {
  activateUser,
  approveUser,
  banUser,
  blockUser,
  deactivateUser,
  unbanUser,
  unblockUser,
} from './moderation_actions.ts';

const refusedTo = {
  activate: 'Error occurred. A blocked user must be unblocked to be activated',
  ban: 'You cannot ban <state> users.',
  unban: 'You cannot unban <state> users.',
};

/** An action that succeeds or is refused. */
const decision = (name: keyof typeof refusedTo, summary: string, decide: (db: Database, id: number) => Promise<void>) =>
  post(`/users/:id/${name}`, {
    operation: `${name}User`,
    summary,
    access: admin,
    input: { id: Id },
    returns: one(Type.Boolean()),
    refusals: { 403: refusedTo[name], 404: '404 User Not Found' },
    handle: async ({ db, input }) => {
      await decide(db, input.id);
      return true;
    },
  });

export const userModerationRoutes = [
  post('/users/:id/block', {
    operation: 'blockUser',
    summary: 'Block a user; null when they are already blocked',
    access: admin,
    input: { id: Id },
    returns: one(nullable(Type.Boolean())),
    refusals: {
      403: [
        '403 Forbidden - The API initiating user cannot be blocked by the API',
        '403 Forbidden - LDAP blocked users cannot be modified by the API',
        'An internal user cannot be blocked',
      ],
      404: '404 User Not Found',
    },
    handle: async ({ db, caller, input }) => ((await blockUser(db, caller.id, input.id)) ? true : null),
  }),
  post('/users/:id/unblock', {
    operation: 'unblockUser',
    summary: 'Unblock a user; false when they are not blocked',
    access: admin,
    input: { id: Id },
    returns: one(Type.Boolean()),
    refusals: {
      403: [
        '403 Forbidden - Deactivated users cannot be unblocked by the API',
        '403 Forbidden - LDAP blocked users cannot be unblocked by the API',
      ],
      404: '404 User Not Found',
    },
    handle: ({ db, input }) => unblockUser(db, input.id),
  }),
  post('/users/:id/deactivate', {
    operation: 'deactivateUser',
    summary: 'Deactivate a user who has been inactive for 90 days; null when already deactivated',
    description: 'Only users who have made no request for 90 days can be deactivated.',
    access: admin,
    input: { id: Id },
    returns: one(nullable(Type.Boolean())),
    refusals: {
      403: [
        'Error occurred. A blocked user cannot be deactivated',
        'The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
        'Internal users cannot be deactivated',
      ],
      404: '404 User Not Found',
    },
    handle: async ({ db, input }) => ((await deactivateUser(db, input.id)) ? true : null),
  }),
  decision('activate', 'Activate a deactivated user', activateUser),
  decision('ban', 'Ban a user', banUser),
  decision('unban', 'Unban a user', unbanUser),
  post('/users/:id/approve', {
    operation: 'approveUser',
    summary: 'Approve a pending user account',
    access: admin,
    input: { id: Id },
    returns: one(Type.Object({ message: Type.String(), success: Type.Boolean() })),
    refusals: { 404: '404 User Not Found', 409: 'The user you are trying to approve is not pending approval' },
    handle: async ({ db, input }) => {
      await approveUser(db, input.id);
      return { message: 'Success', success: true };
    },
  }),
];
