/** The filters of epic lists: each parameter as a predicate on rows of `epics`. */
import { sql } from 'kysely';
import { epicKind, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Filter,
  type FilterTable,
  filtersOf,
  namesAsked,
  namesFor,
  reactedTo,
  type SeenBy,
  sharedExclusions,
  sharedFilters,
} from '../issuables/index.ts';
import type { EpicFilters } from './list_parameters.ts';

const exclusions = sharedExclusions(epicKind);

const table: FilterTable<EpicFilters, SeenBy> = {
  ...sharedFilters(epicKind),
  my_reaction_emoji: (name, { caller }) => reactedTo(epicKind, caller, name),
  not: (not, seen) => filtersOf(exclusions, not, seen),
};

/**
 * The filters of a list, with their names resolved.
 * @param filters as given; other list parameters are ignored
 * @throws ApiError 400 for too many search terms
 */
export async function filtersFor(db: Database, caller: MaybeCaller, filters: EpicFilters): Promise<Filter[]> {
  const asked = namesAsked(filters, ({ author_username }) => [author_username]);
  const names = await namesFor(db, asked, { near: sql`group_id is not null`, wildcards: false });
  return filtersOf(table, filters, { caller, names });
}
