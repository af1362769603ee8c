/** The counts of the caller's pending work. They are here because most of them count issues. */
import { Type } from 'typebox';
import { signedIn } from '../../../access/index.ts';
import { get, one, resource } from '../../../http/index.ts';
import { countPending } from '../../activity/todos/index.ts';
import { countIssues } from './list_queries.ts';

const UserCounts = resource('UserCounts', {
  merge_requests: Type.Integer(),
  assigned_issues: Type.Integer({ description: 'Open issues assigned to the caller' }),
  assigned_merge_requests: Type.Integer(),
  review_requested_merge_requests: Type.Integer(),
  todos: Type.Integer({ description: 'Pending to-do items' }),
});

export const userCountRoutes = [
  get('/user_counts', {
    operation: 'getUserCounts',
    summary: "Count the caller's open issues and to-do items",
    access: signedIn,
    returns: one(UserCounts),
    handle: async ({ db, caller, plan }) => {
      const filters = { scope: 'assigned_to_me', state: 'opened' } as const;
      const { opened } = await countIssues(db, { caller, plan, scope: { everywhere: true }, filters });
      // There are no merge requests yet.
      const none = { merge_requests: 0, assigned_merge_requests: 0, review_requested_merge_requests: 0 };
      return { ...none, assigned_issues: opened, todos: await countPending(db, caller) };
    },
  }),
];
