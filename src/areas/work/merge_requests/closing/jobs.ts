/** Recomputes which issues a merge request closes after its description has changed (docs/reference/merge_requests.md#closing-issues). */
import { Id } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { mergeFacts } from '../branch_queries.ts';
import { refreshClosedIssues } from './actions.ts';

/** Enqueued with a new description, whose issues replace those of the old one. Issues closed by commits need git, which a request does not wait for. */
export const readClosedIssues = job('read_closed_issues', {
  input: { merge_request_id: Id },
  retries: 5,
  run: async ({ input, ...services }) => {
    const [facts] = await mergeFacts(services.db, [input.merge_request_id]);
    if (facts) await refreshClosedIssues(services, facts);
  },
});
