/** The counts of the caller's pending work. */
import { Type } from 'typebox';
import { signedIn } from '../../../access/index.ts';
import { get, one, resource } from '../../../http/index.ts';
import { countPending } from '../../activity/todos/index.ts';
import { todoComments } from '../../conversation/notes/index.ts';
import { countIssues } from '../issues/lists/queries.ts';
import { countOpenMergeRequests } from '../merge_requests/lists/queries.ts';

const UserCounts = resource('UserCounts', {
  merge_requests: Type.Integer({ description: 'The same as `assigned_merge_requests`' }),
  assigned_issues: Type.Integer({ description: 'Open issues assigned to the caller' }),
  assigned_merge_requests: Type.Integer({ description: 'Open merge requests assigned to the caller' }),
  review_requested_merge_requests: Type.Integer({
    description: 'Open merge requests that the caller is asked to review',
  }),
  todos: Type.Integer({ description: 'Pending to-do items' }),
});

export const userCountRoutes = [
  get('/user_counts', {
    operation: 'getUserCounts',
    summary: "Count the caller's open issues, merge requests and to-do items",
    access: signedIn,
    returns: one(UserCounts),
    handle: async ({ db, caller, plan }) => {
      const everywhere = { caller, plan, scope: { everywhere: true } } as const;
      const requests = (scope: 'assigned_to_me' | 'reviews_for_me') =>
        countOpenMergeRequests(db, { ...everywhere, filters: { scope, state: 'opened' } });
      const [{ opened }, assigned, reviews, todos] = await Promise.all([
        countIssues(db, { ...everywhere, filters: { scope: 'assigned_to_me', state: 'opened' } }),
        requests('assigned_to_me'),
        requests('reviews_for_me'),
        countPending(db, caller, todoComments),
      ]);
      return {
        merge_requests: assigned,
        assigned_issues: opened,
        assigned_merge_requests: assigned,
        review_requested_merge_requests: reviews,
        todos,
      };
    },
  }),
];
