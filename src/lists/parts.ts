/** The order of a list, as parts that are read one after the other. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { type Position, rangesBehind, readCursor, type SortKey, textsOf } from './cursor.ts';
import type { Start } from './paging.ts';
import { all, type Filter, type ListTable, type Predicate, rowId } from './selection.ts';

export type Sort = SortKey['sort'];

/**
 * A part of a list that one index has in order. So rows without a value come last in either direction without sorting the whole list: by `weight`, a list is
 *
 *     first part   where weight is not null, by weight    9 9 4 1
 *     second part  where weight is null                   - - -
 */
export interface Part {
  /** The rows that belong to it; all by default. */
  where?: Predicate;
  /** The column that it is sorted by first, if this is a single column. */
  column?: string;
  /** Whether an index contains the rows of all places in this order, besides the indexes per place. */
  isIndexedAcross?: true;
  /** The sort keys; ties are ordered by id, newest first. */
  by: readonly SortKey[];
  /** Its start in the order, after the row that a cursor names. */
  from?: Predicate;
}

const ordering = (column: RawBuilder<unknown>, { sort, nulls }: SortKey) =>
  sql`${column} ${sql.raw(nulls ? `${sort} nulls ${nulls}` : sort)}`;

/** The predicates of a part, including the range that filters set for the column that it is sorted by first. */
export const inPart = ({ where, from, column }: Part, filters: readonly Filter[]): Predicate[] => [
  ...[where, from].filter((predicate) => predicate !== undefined),
  ...filters.flatMap(({ bound }) => (bound && bound.column === column ? bound.where : [])),
];

const keyName = (index: number) => sql.ref(`key${index}`);

/** The id of a row as `row_id`, and its sort keys. */
export function columnsOf({ by }: Part, kind: ListTable) {
  const keys = by.map(({ column }, index) => sql`${column} as ${keyName(index)}`);
  return sql.join([sql`${rowId(kind)} as row_id`, ...keys]);
}

/** The names of these columns. */
export const namesOf = ({ by }: Part) => sql.join([sql.ref('row_id'), ...by.map((_, index) => keyName(index))]);

/** The order of a part, of its table or of rows that have been selected with `columnsOf`. */
export const orderOf = ({ by }: Part, kind: ListTable) =>
  sql`order by ${sql.join([...by.map((key) => ordering(key.column, key)), sql`${rowId(kind)} desc`])}`;
export const orderNamed = ({ by }: Part) =>
  sql`order by ${sql.join([...by.map((key, index) => ordering(keyName(index), key)), sql`row_id desc`])}`;

/**
 * The columns that locate a row in a list of several parts, and their order. The number of the part is null before the place where the list begins. The sort keys of
 * a part are the same for all rows of later ones.
 */
export function placeInParts(kind: ListTable, parts: readonly Part[]) {
  const keys = parts.flatMap(({ by }) => by);
  const cases = parts.flatMap((part, index) => {
    const predicates = inPart(part, []);
    return predicates.length > 0 ? sql`when ${all(predicates)} then ${sql.lit(index)}` : [];
  });
  const number = cases.length > 0 ? sql`case ${sql.join(cases, sql` `)} end` : sql`0`;
  const named = keys.map(({ column }, index) => sql`${column} as ${keyName(index)}`);
  return {
    columns: sql.join([sql`${rowId(kind)} as row_id`, sql`${number} as part`, ...named]),
    order: sql`order by ${sql.join([sql`part`, ...keys.map((key, index) => ordering(keyName(index), key)), sql`row_id desc`])}`,
  };
}

/** The keys that identify a row of a part. */
export const wholeKeys = (kind: ListTable, { by }: Part): SortKey[] => [...by, { column: rowId(kind), sort: 'desc' }];

/** The position of a row in a list. */
export function positionOf(kind: ListTable, parts: readonly Part[]): RawBuilder<Position> {
  const cases = parts.map((part, index) => {
    const values = textsOf(wholeKeys(kind, part).map(({ column }) => column));
    return sql`when ${part.where ?? sql`true`} then json_build_object('part', ${sql.lit(index)}, 'values', ${values})`;
  });
  return sql`case ${sql.join(cases, sql` `)} end`;
}

/**
 * The parts of a list from the start of a page on.
 * @throws ApiError 400 for a cursor of another list
 */
export function partsFrom(db: Database, kind: ListTable, parts: readonly Part[], { cursor }: Start): readonly Part[] {
  if (cursor === undefined) return parts;
  const keys = parts.map((part) => wholeKeys(kind, part));
  const { part, values } = readCursor(db, cursor, keys);
  const rest = rangesBehind(keys[part]!, values).map((from) => ({ ...parts[part]!, from }));
  return [...rest, ...parts.slice(part + 1)];
}
