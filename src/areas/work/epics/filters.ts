/** The filters of epic lists: each parameter as a predicate on rows of `epics`. */
import { epicKind } from '../../../access/index.ts';
import type { Filter } from '../../../lists/index.ts';
import {
  type FilterTable,
  filtersOf,
  reactedTo,
  type SeenBy,
  sharedExclusions,
  sharedFilters,
} from '../issuables/filters.ts';
import type { NamesAsked } from '../issuables/name_queries.ts';
import { namesAsked } from '../issuables/people_filters.ts';
import type { EpicListInput } from './list_parameters.ts';

/** The names in filters that need a lookup. */
export const namesIn = (filters: EpicListInput): NamesAsked =>
  namesAsked(filters, ({ author_username }) => [author_username]);

const exclusions = sharedExclusions(epicKind);

const table: FilterTable<EpicListInput, SeenBy> = {
  ...sharedFilters(epicKind),
  my_reaction_emoji: (name, { caller }) => reactedTo(epicKind, caller, name),
  not: (not, seen) => filtersOf(exclusions, not, seen),
};

/**
 * The filters of a list.
 * @param filters as given; other list parameters are ignored
 * @throws ApiError 400 for too many search terms
 */
export const epicFilters = (filters: EpicListInput, seen: SeenBy): Filter[] => filtersOf(table, filters, seen);
