/** Searches issues, merge requests and epics. */
import { sql } from 'kysely';
import { isVisibleEpic, mayReadMergeRequests, mayUse } from '../../../access/index.ts';
import { badParams, badRequest, forbidden } from '../../../http/index.ts';
import { mapPage, paginate } from '../../../lists/index.ts';
import { isFoundIn } from '../../../texts/index.ts';
import { Epic, presentEpics } from '../epics/present.ts';
import { listIssues } from '../issues/lists/queries.ts';
import { Issue } from '../issues/present.ts';
import { listMergeRequests } from '../merge_requests/lists/queries.ts';
import { MergeRequestInList } from '../merge_requests/present.ts';
import { formed, type Scope, type Search, type SearchInput } from './definition.ts';
import { searchedPlaces } from './text_queries.ts';

/** A search for a number after the sign of a kind refers to that issue or merge request. */
const numberIn = (sign: '#' | '!', search: string): number | undefined => {
  const [, number] = new RegExp(`^\\s*${sign}(\\d{1,9})\\s*$`).exec(search) ?? [];
  return number === undefined ? undefined : Number(number);
};

/** The filters shared with the lists of issues and of merge requests. */
function sharedFilters(sign: '#' | '!', { input }: Search) {
  const { search, fields, label_name, author_username, not, order_by, sort, include_archived } = input;
  const number = numberIn(sign, search);
  return {
    ...(number === undefined ? { search } : { iids: [number] }),
    ...(fields?.length ? { in: 'title' } : {}),
    ...(label_name ? { labels: label_name } : {}),
    ...(author_username === undefined ? {} : { author_username }),
    ...(not?.author_username === undefined ? {} : { not: { author_username: not.author_username } }),
    order_by: order_by ?? 'created_at',
    sort: sort ?? 'desc',
    scope: 'all' as const,
    non_archived: !include_archived,
  };
}

function refuseBranches({ source_branch, target_branch, not = {} }: SearchInput): void {
  const named = Object.entries({ source_branch, target_branch, ...not }).find(
    ([name, value]) => name.endsWith('_branch') && value !== undefined,
  );
  if (named) throw badRequest(`${named[0]} is supported only for merge_requests`);
}

/** @throws ApiError 400 for filters that the scope does not support */
export function refuseFilters(scope: string, input: SearchInput): void {
  if (scope !== 'merge_requests') refuseBranches(input);
  if (input.fields?.length && !['issues', 'work_items', 'merge_requests'].includes(scope))
    throw badRequest('fields is supported only for issues, merge_requests');
}

export const issueScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [Issue],
  check(project) {
    if (!mayUse(project, 'issues')) throw forbidden();
  },
  async find(services, search) {
    const { caller, plan, within, input } = search;
    const { state = 'all', confidential } = input;
    if (state !== 'all' && state !== 'opened' && state !== 'closed')
      throw badParams('state does not have a valid value');
    const filters = { ...sharedFilters('#', search), state, ...(confidential === undefined ? {} : { confidential }) };
    return formed(Issue, await listIssues(services, { caller, plan, scope: searchedPlaces(within), filters }, input));
  },
};

export const mergeRequestScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [MergeRequestInList],
  check(project) {
    if (!mayReadMergeRequests(project)) throw forbidden();
  },
  async find(services, search) {
    const { caller, plan, within, input } = search;
    const { state = 'all', source_branch, target_branch, not } = input;
    const branches = (given: { source_branch?: string; target_branch?: string } = {}) => ({
      ...(given.source_branch === undefined ? {} : { source_branch: given.source_branch }),
      ...(given.target_branch === undefined ? {} : { target_branch: given.target_branch }),
    });
    const { not: otherThan, ...shared } = sharedFilters('!', search);
    const filters = {
      ...shared,
      ...branches({ ...(source_branch ? { source_branch } : {}), ...(target_branch ? { target_branch } : {}) }),
      state,
      not: { ...otherThan, ...branches(not) },
    };
    return formed(
      MergeRequestInList,
      await listMergeRequests(services, { caller, plan, scope: searchedPlaces(within), filters }, input),
    );
  },
};

export const epicScope: Scope = {
  levels: ['global', 'group'],
  forms: [Epic],
  async find(services, { caller, within, input }) {
    const { order_by = 'created_at', sort = 'desc' } = input;
    const inside =
      'group' in within ? sql<boolean>`namespaces.traversal_ids @> ${[within.group.id]}::bigint[]` : sql<boolean>`true`;
    const query = services.db
      .selectFrom('epics')
      .innerJoin('namespaces', 'namespaces.id', 'epics.group_id')
      .select('epics.id')
      .where(inside)
      .where(isVisibleEpic(caller))
      .where(isFoundIn(input.search, ['epics.title', 'epics.description']) ?? sql<boolean>`false`)
      .orderBy(`epics.${order_by}`, sort)
      .orderBy('epics.id', sort);
    const page = await paginate(services.db, query, input, { varies: true });
    const ids = page.items.map(({ id }) => id);
    const epics = new Map((await presentEpics(services, caller, ids)).map((epic) => [epic.id, epic]));
    return formed(
      Epic,
      mapPage(page, ({ id }) => epics.get(id)!),
    );
  },
};
