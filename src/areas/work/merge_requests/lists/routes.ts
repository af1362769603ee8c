/** Lists of merge requests (docs/reference/merge_requests.md#lists). */
import { sql } from 'kysely';
import {
  anyone,
  groupVisible,
  mergeRequestsReader,
  mergeRequestsVisible,
  planningRole,
} from '../../../../access/index.ts';
import { get, Id, pageOf, unauthorized } from '../../../../http/index.ts';
import { narrow, paging } from '../../../../lists/index.ts';
import { milestoneOf } from '../../../planning/milestones/index.ts';
import { MergeRequestInList } from '../present.ts';
import { anyScope, listFilters, listRules, nonArchived, numbered, ownScope } from './parameters.ts';
import { listMergeRequests } from './queries.ts';

/** Searches are more expensive than other lists. */
const searchRate = {
  setting: 'search_rate_limit',
  anonymous: 'search_rate_limit_unauthenticated',
  window_s: 60,
  parameter: 'search',
} as const;

const shared = { rules: listRules, rate: searchRate, returns: pageOf(MergeRequestInList) };

export const mergeRequestListRoutes = [
  get('/merge_requests', {
    operation: 'listMergeRequests',
    summary: 'List merge requests, newest first',
    description: 'Callers without a token must set `scope=all`.',
    ...shared,
    access: anyone,
    input: { ...paging, ...ownScope, ...listFilters },
    handle: ({ caller, plan, input, ...services }) => {
      if (!caller && input.scope !== 'all') throw unauthorized();
      return listMergeRequests(services, { caller, plan, scope: { everywhere: true }, filters: input }, input);
    },
  }),
  get('/groups/:id/merge_requests', {
    operation: 'listGroupMergeRequests',
    summary: 'List the merge requests of a group and its subgroups, newest first',
    ...shared,
    access: groupVisible,
    input: { ...paging, ...anyScope, ...nonArchived, ...listFilters },
    handle: ({ caller, group, plan, input, ...services }) =>
      listMergeRequests(services, { caller, plan, scope: { group }, filters: input }, input),
  }),
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

const ofMilestone = {
  summary: 'List the merge requests of a milestone, newest first',
  input: { ...paging, milestone_id: Id },
  returns: pageOf(MergeRequestInList),
};
const isIn = (milestone_id: number) => narrow(sql`merge_requests.milestone_id = ${milestone_id}`);

export const milestoneMergeRequestRoutes = [
  get('/projects/:id/milestones/:milestone_id/merge_requests', {
    operation: 'listProjectMilestoneMergeRequests',
    ...ofMilestone,
    access: mergeRequestsReader,
    handle: async ({ caller, project, plan, input, ...services }) => {
      const { id } = await milestoneOf(services.db, { project_id: project.id }, input.milestone_id);
      return listMergeRequests(services, { caller, plan, scope: { project }, filters: {}, only: isIn(id) }, input);
    },
  }),
  get('/groups/:id/milestones/:milestone_id/merge_requests', {
    operation: 'listGroupMilestoneMergeRequests',
    ...ofMilestone,
    access: planningRole('group', 'guest'),
    handle: async ({ caller, parent, plan, input, ...services }) => {
      const { id } = await milestoneOf(services.db, { group_id: parent.id }, input.milestone_id);
      return listMergeRequests(
        services,
        { caller, plan, scope: { group: parent }, filters: {}, only: isIn(id) },
        input,
      );
    },
  }),
];
