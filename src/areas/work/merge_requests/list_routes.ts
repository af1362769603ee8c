/** Lists of merge requests (docs/reference/merge_requests.md#lists). */
import { mergeRequestsVisible } from '../../../access/index.ts';
import { get, pageOf, paging } from '../../../http/index.ts';
import { anyScope, listFilters, listRules, numbered } from './list_parameters.ts';
import { listMergeRequests } from './list_queries.ts';
import { MergeRequestInList } from './present.ts';

/** Searches cost more than other lists. */
const searchRate = {
  setting: 'search_rate_limit',
  anonymous: 'search_rate_limit_unauthenticated',
  window_s: 60,
  parameter: 'search',
} as const;

const shared = { rules: listRules, rate: searchRate, returns: pageOf(MergeRequestInList) };

export const mergeRequestListRoutes = [
  get('/projects/:id/merge_requests', {
    operation: 'listProjectMergeRequests',
    summary: 'List the merge requests of a project, newest first',
    ...shared,
    access: mergeRequestsVisible,
    input: { ...paging, ...anyScope, ...numbered, ...listFilters },
    handle: ({ caller, project, plan, input, ...services }) =>
      listMergeRequests(services, { caller, plan, scope: { project }, filters: input }, input),
  }),
];
