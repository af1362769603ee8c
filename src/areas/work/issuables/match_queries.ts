/** Which rows are in a list of any kind, as predicates. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Filter } from './filters.ts';
import { all, type Part, placeId, rowId } from './part_queries.ts';

/** What the caller may read in the projects or groups of a list. */
export interface View {
  /** The projects or groups, if they are few enough to be listed by id. */
  place_ids?: readonly number[];
  /** Otherwise a query of their ids, and a predicate on the rows in them. */
  places?: { ids: RawBuilder<unknown>; where: RawBuilder<SqlBool> };
  /** A predicate on the rows; without `place_ids` it also says in which projects or groups. */
  where: RawBuilder<SqlBool>;
}

/** Which rows a list is of, as predicates. */
export interface Selection {
  kind: IssuableKind;
  view: View;
  filters: readonly Filter[];
}

/** A filter whose matches can be looked up apart from the list. */
type SetFilter = Filter & Required<Pick<Filter, 'ids'>>;
const isSet = (filter: Filter): filter is SetFilter => filter.ids !== undefined;
const isNoSet = (filter: Filter): boolean => !isSet(filter);

/**
 * A predicate on rows: they match all of several filters that are looked up. What these have in common is found before the rows, because PostgreSQL would compare all rows with
 * each of them: `offset 0` keeps it from that.
 */
function isInAll(kind: IssuableKind, [first, ...others]: readonly SetFilter[]): RawBuilder<SqlBool> {
  const isInOthers = all(others.map(({ ids }) => sql`id in (${ids})`));
  return sql`${rowId(kind)} in (select id from (${first!.ids}) first(id) where ${isInOthers} offset 0)`;
}

/** All predicates except that of the projects or groups. */
export function within({ kind, view, filters }: Selection): RawBuilder<SqlBool>[] {
  const sets = filters.filter(isSet);
  if (sets.length < 2) return [view.where, ...filters.map(({ where }) => where)];
  const others = filters.filter(isNoSet).map(({ where }) => where);
  return [view.where, isInAll(kind, sets), ...others];
}

export const isNarrowed = (filters: readonly Filter[]) => filters.some(({ isNarrow }) => isNarrow);

/** Whether no row of a part matches. */
export const isEmpty = ({ columns }: Part, filters: readonly Filter[]): boolean =>
  columns !== undefined && filters.some(({ lacks }) => lacks === columns[0]);

/** Where the rows of a part that match are in its order. */
export const boundsOf = ({ columns = [] }: { columns?: readonly string[] }, filters: readonly Filter[]) =>
  filters.flatMap(({ bound }) => (bound && columns.includes(bound.column) ? bound.where : []));

/** The filters where rows are read in order. */
export const testsOf = (filters: readonly Filter[]) => filters.map(({ where, test = where }) => test);

/** A predicate on rows: they are in the projects or groups of a list, if these are listed by id. */
export function isAmongPlaces({ kind, view: { place_ids } }: Selection, place = placeId(kind)): RawBuilder<SqlBool> {
  if (!place_ids) return sql`true`;
  return place_ids.length === 1 ? sql`${placeId(kind)} = ${place_ids[0]}` : sql`${place} = any(${place_ids}::bigint[])`;
}

/** The same, for reading the rows. For a search of several, the planner would combine its index with the rows of all; this way it checks the place of each match. */
export function ofPlaces(selection: Selection): RawBuilder<SqlBool> {
  const { kind, filters } = selection;
  return filters.some(({ isSearch }) => isSearch)
    ? isAmongPlaces(selection, sql`(${placeId(kind)} + 0)`)
    : isAmongPlaces(selection);
}
