/** The rows of a list: rows of one table, in some places (projects or groups), that match the filters. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';

export type Predicate = RawBuilder<SqlBool>;

/** The table of a list, and its column with the project or group of a row. */
export interface ListTable {
  table: string;
  place_column: string;
}

/** A predicate, and what is known about the number of matching rows. */
export interface Filter {
  where: Predicate;
  /** The same predicate, evaluated row by row, for lists that are walked: PostgreSQL would sometimes collect all matching rows instead, again for each place. */
  test?: Predicate;
  /** The number of matching rows: `few` that an index finds, if the value is rare; an `unknown` share, which no index tells; or `most`. */
  matches: 'few' | 'unknown' | 'most';
  /** Selects the ids of the matching rows from an index, which shows at little cost whether there are few. */
  ids?: RawBuilder<unknown>;
  /** Whether it selects the rows of one object, such as a merge request: finding them costs no more than checking whether there are few. */
  is_bounded?: true;
  /** Whether `where` has an index that must not be combined with one of the places, such as the trigrams of a search. */
  standsAlone?: true;
  /** The range that all matching rows have in a column: in an order by that column first, the list starts and ends there. */
  bound?: { column: string; where: Predicate };
}

export const narrow = (where: Predicate): Filter => ({ where, matches: 'few' });
export const bounded = (where: Predicate): Filter => ({ where, matches: 'few', is_bounded: true });
export const varying = (where: Predicate): Filter => ({ where, matches: 'unknown' });
export const wide = (where: Predicate): Filter => ({ where, matches: 'most' });

/** The rows that the caller may read in the places of a list. */
export interface View {
  /** The places, if they are few enough to be listed by id. */
  place_ids?: readonly number[];
  /** Otherwise a query of their ids, and a predicate on the rows in them. */
  places?: { ids: RawBuilder<unknown>; where: Predicate };
  /** A predicate on the rows; without `place_ids` it also says in which places. */
  where: Predicate;
}

export interface Selection {
  kind: ListTable;
  view: View;
  filters: readonly Filter[];
}

/** The conjunction of some predicates. */
export const all = (predicates: readonly Predicate[]) => sql<SqlBool>`${sql.join(predicates, sql` and `)}`;

export const rowId = ({ table }: ListTable) => sql.ref(`${table}.id`);
export const placeId = ({ table, place_column }: ListTable) => sql.ref(`${table}.${place_column}`);

export const isNarrow = ({ matches }: Filter) => matches === 'few';
export const isWide = ({ matches }: Filter) => matches === 'most';

/**
 * The predicates of all filters. The ids that several of them look up in other tables are intersected before the rows are read: PostgreSQL would compare each row
 * with all of them, which `offset 0` prevents. Issues with two labels that 160,000 have each took 360 ms, and take 120.
 */
function matching({ kind, filters }: Selection): Predicate[] {
  const sets = filters.flatMap(({ ids }) => ids ?? []);
  if (sets.length < 2) return filters.map(({ where }) => where);
  const [first, ...others] = sets;
  const inOthers = all(others.map((ids) => sql`id in (${ids})`));
  const inAll: Predicate = sql`${rowId(kind)} in (select id from (${first}) first(id) where ${inOthers} offset 0)`;
  return [inAll, ...filters.filter(({ ids }) => !ids).map(({ where }) => where)];
}

/** The place of a row is one of the list's, if these are listed by id. */
function isInPlaces({ kind, view: { place_ids } }: Selection, place: RawBuilder<unknown>): Predicate {
  if (!place_ids) return sql`true`;
  return place_ids.length === 1 ? sql`${placeId(kind)} = ${place_ids[0]}` : sql`${place} = any(${place_ids}::bigint[])`;
}

/** The predicate of a list, for PostgreSQL to estimate its number of rows. */
export const isListed = (selection: Selection): Predicate =>
  all([isInPlaces(selection, placeId(selection.kind)), selection.view.where, ...matching(selection)]);

/** The predicate of a list, for reading its rows. The addition keeps PostgreSQL from combining an index that stands alone with one of the places, which has all of their rows. */
export function isRead(selection: Selection): Predicate {
  const { kind, view, filters } = selection;
  const place = filters.some(({ standsAlone }) => standsAlone) ? sql`(${placeId(kind)} + 0)` : placeId(kind);
  return all([isInPlaces(selection, place), view.where, ...matching(selection)]);
}
