/** What narrows a list of epics: each parameter as a predicate on rows of `epics`. */
import { sql } from 'kysely';
import { epicKind, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { emojiNamed } from '../../conversation/award_emoji/index.ts';
import {
  type Filter,
  type FilterTable,
  filtersOf,
  namesFor,
  reactedTo,
  type SeenBy,
  sharedExclusions,
  sharedFilters,
  titlesIn,
} from '../issuables/index.ts';
import type { EpicFilters } from './list_parameters.ts';

const exclusions = sharedExclusions(epicKind);

const table: FilterTable<EpicFilters, SeenBy> = {
  ...sharedFilters(epicKind),
  my_reaction_emoji: (name, { caller }) => reactedTo(epicKind, caller, emojiNamed(name) ?? name),
  not: (not, seen) => filtersOf(exclusions, not, seen),
};

/**
 * What narrows the list, with what its names stand for looked up.
 * @param filters as they were given; other parameters of lists are passed over
 * @throws ApiError 400 for too many terms to search for
 */
export async function filtersFor(db: Database, caller: MaybeCaller, filters: EpicFilters): Promise<Filter[]> {
  const { not = {} } = filters;
  const asked = {
    labels: [...titlesIn(filters.labels), ...titlesIn(not.labels)],
    milestones: [],
    usernames: [filters.author_username, not.author_username].filter((name) => name !== undefined),
  };
  const names = await namesFor(db, asked, { near: sql`group_id is not null`, wildcards: false });
  return filtersOf(table, filters, { caller, names });
}
