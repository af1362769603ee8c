/** Lists and counts of issues (docs/reference/issues.md). */
import { Type } from 'typebox';
import { anyone, groupVisible, issuesVisible, type MaybeCaller } from '../../../../access/index.ts';
import { get, one, pageOf, resource, unauthorized } from '../../../../http/index.ts';
import { paging } from '../../../../lists/index.ts';
import { Issue } from '../present.ts';
import {
  anyScope,
  type IssueFilters,
  listFilters,
  listRules,
  nonArchived,
  ownScope,
  statisticsFilters,
} from './parameters.ts';
import { countIssues, listIssues } from './queries.ts';

const counts = { all: Type.Integer(), closed: Type.Integer(), opened: Type.Integer() };
export const IssueStatistics = resource('IssueStatistics', {
  statistics: Type.Object({ counts: Type.Object(counts) }),
});

/**
 * Anonymous callers have no issues of their own to list.
 * @throws ApiError 401
 */
function refuseAnonymousOwn(caller: MaybeCaller, { scope }: IssueFilters): void {
  if (!caller && scope !== 'all') throw unauthorized();
}

/** Searches are more expensive than other lists. */
const searchRate = {
  setting: 'search_rate_limit',
  anonymous: 'search_rate_limit_unauthenticated',
  window_s: 60,
  parameter: 'search',
} as const;

export const issueListRoutes = [
  get('/issues', {
    operation: 'listIssues',
    summary: 'List issues, newest first',
    description: 'Callers without a token must set `scope=all`.',
    access: anyone,
    input: { ...paging, ...ownScope, ...nonArchived, ...listFilters },
    rules: listRules,
    rate: searchRate,
    returns: pageOf(Issue),
    handle: ({ caller, plan, input, ...services }) => {
      refuseAnonymousOwn(caller, input);
      return listIssues(services, { caller, plan, scope: { everywhere: true }, filters: input }, input);
    },
  }),
  get('/groups/:id/issues', {
    operation: 'listGroupIssues',
    summary: 'List the issues of a group and its subgroups, newest first',
    access: groupVisible,
    input: { ...paging, ...anyScope, ...nonArchived, ...listFilters },
    rules: listRules,
    rate: searchRate,
    returns: pageOf(Issue),
    handle: ({ caller, group, plan, input, ...services }) =>
      listIssues(services, { caller, plan, scope: { group }, filters: input }, input),
  }),
  get('/projects/:id/issues', {
    operation: 'listProjectIssues',
    summary: 'List the issues of a project, newest first',
    access: issuesVisible,
    input: { ...paging, ...anyScope, ...listFilters },
    rules: listRules,
    rate: searchRate,
    returns: pageOf(Issue),
    handle: ({ caller, project, plan, input, ...services }) =>
      listIssues(services, { caller, plan, scope: { project }, filters: input }, input),
  }),
  get('/issues_statistics', {
    operation: 'countIssues',
    summary: 'Count issues',
    description: 'Callers without a token must set `scope=all`.',
    access: anyone,
    input: { ...ownScope, ...statisticsFilters },
    rules: listRules,
    rate: searchRate,
    returns: one(IssueStatistics),
    handle: async ({ caller, plan, input, db }) => {
      refuseAnonymousOwn(caller, input);
      return {
        statistics: { counts: await countIssues(db, { caller, plan, scope: { everywhere: true }, filters: input }) },
      };
    },
  }),
  get('/groups/:id/issues_statistics', {
    operation: 'countGroupIssues',
    summary: 'Count the issues of a group and its subgroups',
    access: groupVisible,
    input: { ...anyScope, ...statisticsFilters },
    rules: listRules,
    rate: searchRate,
    returns: one(IssueStatistics),
    handle: async ({ caller, group, plan, input, db }) => ({
      statistics: { counts: await countIssues(db, { caller, plan, scope: { group }, filters: input }) },
    }),
  }),
  get('/projects/:id/issues_statistics', {
    operation: 'countProjectIssues',
    summary: 'Count the issues of a project',
    access: issuesVisible,
    input: { ...anyScope, ...statisticsFilters },
    rules: listRules,
    rate: searchRate,
    returns: one(IssueStatistics),
    handle: async ({ caller, project, plan, input, db }) => ({
      statistics: { counts: await countIssues(db, { caller, plan, scope: { project }, filters: input }) },
    }),
  }),
];
