/** The filters of lists of merge requests: each parameter as a predicate on rows of `merge_requests` (docs/reference/merge_requests.md#lists). */
import { sql } from 'kysely';
import { isVisibleProject, type MaybeCaller, mergeRequestKind } from '../../../../access/index.ts';
import { type Filter, narrow, type Predicate, varying, wide } from '../../../../lists/index.ts';
import { hasReadableEnvironments } from '../../../deployments/environments/index.ts';
import {
  type FilterTable,
  filtersOf,
  idOr,
  not,
  reactedTo,
  type SeenBy,
  sharedExclusions,
  sharedFilters,
} from '../../issuables/filters.ts';
import type { NamesAsked } from '../../issuables/name_queries.ts';
import { milestoneFilters, namesAsked, peopleIn, scopeFilter } from '../../issuables/people_filters.ts';
import type { Excluded, MergeRequestFilters } from './parameters.ts';

/** The names in filters that need a lookup. */
export const namesIn = (filters: MergeRequestFilters): NamesAsked => {
  const { merge_user_username, approved_by_usernames = [] } = filters;
  const asked = namesAsked(filters, ({ author_username, assignee_username = [], reviewer_username }) => [
    author_username,
    reviewer_username,
    ...assignee_username,
  ]);
  const others = merge_user_username ? [merge_user_username, ...approved_by_usernames] : approved_by_usernames;
  return { ...asked, usernames: [...asked.usernames, ...others] };
};

const assignees = peopleIn(mergeRequestKind, 'merge_request_assignees');
const reviewers = peopleIn(mergeRequestKind, 'merge_request_reviewers');
const approvals = peopleIn(mergeRequestKind, 'merge_request_approvals');
const milestones = milestoneFilters(mergeRequestKind);

/** Approval rules of the merge request or of its project name any user, or the given one. */
const isNamed = (user_id?: number): Predicate => sql`exists (
  select from approval_rules rule join approval_rule_users named on named.approval_rule_id = rule.id
   where (rule.project_id = merge_requests.project_id or rule.merge_request_id = merge_requests.id)
     and ${user_id === undefined ? sql`true` : sql`named.user_id = ${user_id}`})`;

function namedBy(text: string): Filter {
  const value = idOr('approver_ids', text, ['none', 'any']);
  if (value === 'any') return varying(isNamed());
  return varying(value === 'none' ? not(isNamed()) : isNamed(value));
}

/** Matches nothing for a project hidden from the caller. */
const fromProject = (caller: MaybeCaller, id: number): Predicate => sql`
  (merge_requests.source_project_id = ${id} and exists (select from projects where projects.id = ${id} and ${isVisibleProject(caller)}))`;

/** One deployment must meet all deployment filters. Projects whose environments the caller may not read match nothing. */
function deployed({ deployed_before, deployed_after, environment }: MergeRequestFilters, caller: MaybeCaller): Filter {
  const conditions = [
    sql`linked.merge_request_id = merge_requests.id`,
    sql`deployments.status = 'success'`,
    ...(deployed_before ? [sql`deployments.finished_at < ${deployed_before}`] : []),
    ...(deployed_after ? [sql`deployments.finished_at > ${deployed_after}`] : []),
    ...(environment === undefined ? [] : [sql`environments.name = ${environment}`]),
  ];
  return varying(sql`exists (
    select from deployment_merge_requests linked join deployments on deployments.id = linked.deployment_id
           join environments on environments.id = linked.environment_id join projects on projects.id = environments.project_id
     where ${hasReadableEnvironments(caller)} and ${sql.join(conditions, sql` and `)})`);
}

const isDraft = (draft: boolean): Filter =>
  draft ? varying(sql`merge_requests.draft`) : wide(sql`not merge_requests.draft`);

const positive: FilterTable<MergeRequestFilters, SeenBy> = {
  ...sharedFilters(mergeRequestKind),
  ...milestones.positive,
  iids: (iids) => narrow(sql`merge_requests.iid = any(${iids}::bigint[])`),
  assignee_id: (text) => assignees.byId('assignee_id', text),
  assignee_username: (usernames, { names }) => usernames.map((username) => assignees.byUser(names.user(username))),
  reviewer_id: (text) => reviewers.byId('reviewer_id', text),
  reviewer_username: (username, { names }) => reviewers.byUser(names.user(username)),
  merge_user_id: (id) => narrow(sql`merge_requests.merge_user_id = ${id}`),
  merge_user_username: (username, { names }) =>
    narrow(sql`merge_requests.merge_user_id = ${names.user(username) ?? -1}`),
  my_reaction_emoji: (name, { caller }) => reactedTo(mergeRequestKind, caller, name),
  source_branch: (name) => narrow(sql`merge_requests.source_branch = ${name}`),
  target_branch: (name) => varying(sql`merge_requests.target_branch = ${name}`),
  source_project_id: (id, { caller }) => narrow(fromProject(caller, id)),
  approved: (word) => approvals.byId('approved', word === 'yes' ? 'any' : 'none'),
  approved_by_ids: (ids) => ids.map((id) => approvals.byId('approved_by_ids', id)),
  approved_by_usernames: (usernames, { names }) => usernames.map((username) => approvals.byUser(names.user(username))),
  approver_ids: (ids) => ids.map(namedBy),
  deployed_before: (_moment, { caller }, all) => deployed(all, caller),
  deployed_after: (_moment, { caller }, all) => deployed(all, caller),
  environment: (_name, { caller }, all) => deployed(all, caller),
  draft: isDraft,
  wip: (word) => isDraft(word === 'yes'),
  scope: (scope, seen) => scopeFilter(mergeRequestKind, scope, seen, { assignees, reviewers }),
};

const negative: FilterTable<Excluded, SeenBy> = {
  ...sharedExclusions(mergeRequestKind),
  ...milestones.negative,
  assignee_id: (text) => assignees.exceptId('not[assignee_id]', text),
  assignee_username: (usernames, { names }) => assignees.exceptUsers(usernames.map((username) => names.user(username))),
  reviewer_id: (text) => reviewers.exceptId('not[reviewer_id]', text),
  reviewer_username: (username, { names }) => reviewers.exceptUsers([names.user(username)]),
  my_reaction_emoji: (name, { caller }) => {
    const reacted = reactedTo(mergeRequestKind, caller, name);
    return reacted && varying(not(reacted.where));
  },
};

/**
 * The filters of a list.
 * @param filters as given
 * @throws ApiError 400 for values that are neither ids nor keywords
 */
export const mergeRequestFilters = (filters: MergeRequestFilters, seen: SeenBy): Filter[] => [
  ...filtersOf(positive, filters, seen),
  ...filtersOf(negative, filters.not ?? {}, seen),
];
