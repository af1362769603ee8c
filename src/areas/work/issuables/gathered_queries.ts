/** Pages of short lists, which are looked up entirely. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { customPlan, type Database } from '../../../db/index.ts';
import type { Start } from '../../../http/index.ts';
import { mostGathered, mostSearched, rememberUncounted } from './count_queries.ts';
import type { Filter } from './filters.ts';
import { type Found, type Read, selectedFrom } from './found_queries.ts';
import { ofPlaces, type Selection, within } from './match_queries.ts';
import { all, type Part, partsFrom, placeInParts, rowId } from './part_queries.ts';

/** Whether one of the filters matches few rows, checked before any is looked up. If that cannot be known in advance, it is tried. */
export function areFew(filters: readonly Filter[], most: number): RawBuilder<SqlBool> {
  const narrow = filters.filter(({ isNarrow }) => isNarrow);
  if (narrow.some(({ ids }) => !ids)) return sql`true`;
  const tests = narrow.map(
    ({ ids }) => sql`(select count(*) from (${ids} limit ${sql.lit(most + 1)}) first) <= ${sql.lit(most)}`,
  );
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** The rows per page that most clients ask for. */
const usualSizes = new Set([20, 50, 100]);

/** Whether a list is asked for often: the first page of a project, with no more than so many filters. */
export const isUsual = ({ view, filters }: Selection, { offset, cursor, per_page }: Start, most_filters: number): boolean =>
  view.place_ids?.length === 1 &&
  filters.length <= most_filters &&
  offset === 0 &&
  cursor === undefined &&
  usualSizes.has(per_page);

interface Matching {
  /** Common table expressions, each before a comma. */
  before: RawBuilder<unknown>;
  isShort: RawBuilder<SqlBool>;
  tests: readonly RawBuilder<SqlBool>[];
  /** Whether one plan is the best for all values. */
  isSteady: boolean;
}

/** Rows that match few ids of one filter are looked up by these, whatever the value. Otherwise PostgreSQL chooses the filter to begin with. */
function matchingOf(selection: Selection, most: number): Matching {
  const { kind, view, filters } = selection;
  const [only, ...others] = filters.filter(({ isNarrow }) => isNarrow);
  if (!only?.ids || others.length > 0)
    return { before: sql``, isShort: areFew(filters, most), tests: [ofPlaces(selection), ...within(selection)], isSteady: false };
  const rest = filters.filter((filter) => filter !== only).map(({ where }) => where);
  const isFirst = sql<SqlBool>`${rowId(kind)} = any(array(select id from first))`;
  return {
    before: sql`first(id) as materialized (${only.ids} limit ${sql.lit(most + 1)}), `,
    isShort: sql`(select count(*) from first) <= ${sql.lit(most)}`,
    tests: [isFirst, ofPlaces(selection), view.where, ...rest],
    isSteady: true,
  };
}

/** The ids of a page of a short list, which is looked up entirely and thereby counted. Without ids if it turns out to be long. */
export async function gathered(
  db: Database,
  selection: Selection,
  parts: readonly Part[],
  start: Start,
): Promise<Partial<Found>> {
  const { kind, filters } = selection;
  const { columns, order } = placeInParts(kind, partsFrom(db, kind, parts, start));
  const most = filters.some(({ isSearch }) => isSearch) ? mostSearched : mostGathered;
  const { before, isShort, tests, isSteady } = matchingOf(selection, most);
  const page = { ...start, offset: 0, list: undefined };
  const { rows } = await sql<
    Read & { is_short: boolean; total: number }
  >`${isSteady && isUsual(selection, start, 2) ? sql`` : customPlan}
    with ${before}bound as materialized (select ${isShort} as is_short),
         matching as materialized (select ${columns} from ${sql.table(kind.table)} where ${all([sql`(select is_short from bound)`, ...tests])} limit ${sql.lit(most + 1)}),
         near as materialized (
           select array(select id from matching where part is not null ${order} limit ${sql.lit(start.per_page + 1)} offset ${sql.lit(start.offset)}) as ids)
    select (select is_short from bound) as is_short, (select count(*) from matching) as total, ${selectedFrom({ selection, parts, start: page })} from near`.execute(
    db,
  );
  const { is_short, ids, total, last } = rows[0]!;
  if (is_short && total <= most) return { ids, total, last };
  if (total <= mostSearched) return {};
  rememberUncounted(db, selection);
  return { total };
}
