/** The filters of lists of each kind. */
import type { Random } from '../support/random.ts';
import { confidentialFilters, type Filter, sharedFilters, stateFilters } from './filters.ts';
import { issueFilters } from './issue_filters.ts';
import { mergeRequestFilters } from './merge_request_filters.ts';
import type { Kind } from './rows.ts';
import type { ListWorld } from './world.ts';

const own: Record<Kind, (lists: ListWorld, random: Random) => Filter[]> = {
  issue: issueFilters,
  merge_request: mergeRequestFilters,
  epic: () => [...stateFilters(['opened', 'closed']), ...confidentialFilters],
};

/** All filters of the lists of a kind, with values that are drawn. */
export const filtersOf = (kind: Kind, lists: ListWorld, random: Random): Filter[] => [
  ...sharedFilters(lists, random),
  ...own[kind](lists, random),
];
