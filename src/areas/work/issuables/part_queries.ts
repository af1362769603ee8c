/** The parts of a list, which are read one after the other, and the places of rows in them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Position, rangesBehind, readCursor, type SortKey, type Start, textsOf } from '../../../http/index.ts';

export type Sort = SortKey['sort'];

/**
 * A part of a list that one index has in order. A list is the concatenation of its parts: so rows without a value come last in either sort direction,
 * without sorting the whole list.
 */
export interface Part {
  /** Which rows are in it; all by default. */
  where?: RawBuilder<SqlBool>;
  /** The columns that its sort keys are. In the first of them, all of its rows have a value. */
  columns?: readonly [string, ...string[]];
  /** Whether an index has the rows of all projects in this order, besides those of each. */
  isIndexedAcross?: true;
  /** The sort keys; ties are ordered by id, newest first. */
  by: readonly SortKey[];
  /** Where it begins in its order, behind the row that a cursor names. */
  from?: RawBuilder<SqlBool>;
}

/** All of some predicates. */
export const all = (predicates: readonly RawBuilder<SqlBool>[]) => sql<SqlBool>`${sql.join(predicates, sql` and `)}`;

/** The id of a row. */
export const rowId = ({ table }: IssuableKind) => sql.ref(`${table}.id`);
/** The id of its project or group. */
export const placeId = ({ table, place_column }: IssuableKind) => sql.ref(`${table}.${place_column}`);

/** A sort key with its direction. */
export const ordering = (column: RawBuilder<unknown>, { sort, nulls }: SortKey) =>
  sql`${column} ${sql.raw(nulls ? `${sort} nulls ${nulls}` : sort)}`;

/** The predicates of a part. */
export const ofPart = ({ where, from }: Part) => [where, from].filter((predicate) => predicate !== undefined);

const keyName = (index: number) => sql.ref(`key${index}`);

/** What a row is sorted by, and its id. */
export function columnsOf({ by }: Part, kind: IssuableKind) {
  const keys = by.map(({ column }, index) => sql`${column} as ${keyName(index)}`);
  return sql.join([sql`${rowId(kind)} as row_id`, ...keys]);
}

/** The names of these columns. */
export const namesOf = ({ by }: Part) => sql.join([sql.ref('row_id'), ...by.map((_, index) => keyName(index))]);

/** @param named whether the columns have been selected as `columnsOf` does */
export function orderOf(kind: IssuableKind, part: Part, named: boolean) {
  const keys = part.by.map((key, index) => ordering(named ? keyName(index) : key.column, key));
  return sql`order by ${sql.join([...keys, sql`${named ? sql.ref('row_id') : rowId(kind)} desc`])}`;
}

/** The number of the part that a row is in; null before the place where the list begins. Its sort key is the same for all rows of later parts. */
function partNumber(parts: readonly Part[]) {
  const cases = parts.flatMap((part, index) => {
    const predicates = ofPart(part);
    return predicates.length > 0 ? sql`when ${all(predicates)} then ${sql.lit(index)}` : [];
  });
  return cases.length > 0 ? sql`case ${sql.join(cases, sql` `)} end` : sql`0`;
}

/** The id of a row, what says where it is in a list of these parts, and the order of rows that are selected with that. */
export function placeInParts(kind: IssuableKind, parts: readonly Part[]) {
  const keys = parts.flatMap(({ by }) => by).map((key, index) => ({ ...key, name: keyName(index) }));
  const columns = [rowId(kind), ...keys.map(({ column, name }) => sql`${column} as ${name}`), sql`${partNumber(parts)} as part`];
  const order = keys.map((key) => ordering(key.name, key));
  return { columns: sql.join(columns), order: sql`order by ${sql.join([sql`part`, ...order, sql`id desc`])}` };
}

/** The keys that tell the rows of a part apart. */
export const wholeKeys = (kind: IssuableKind, { by }: Part): SortKey[] => [...by, { column: rowId(kind), sort: 'desc' }];

/** Where a row is in a list. */
export function positionOf(kind: IssuableKind, parts: readonly Part[]): RawBuilder<Position> {
  const cases = parts.map((part, index) => {
    const values = textsOf(wholeKeys(kind, part).map(({ column }) => column));
    return sql`when ${part.where ?? sql`true`} then json_build_object('part', ${sql.lit(index)}, 'values', ${values})`;
  });
  return sql`case ${sql.join(cases, sql` `)} end`;
}

/** The parts of a list from the beginning of a page on. */
export function partsFrom(db: Database, kind: IssuableKind, parts: readonly Part[], { cursor }: Start): readonly Part[] {
  if (cursor === undefined) return parts;
  const keys = parts.map((part) => wholeKeys(kind, part));
  const { part, values } = readCursor(db, cursor, keys);
  const rest = rangesBehind(keys[part]!, values).map((from) => ({ ...parts[part]!, from }));
  return [...rest, ...parts.slice(part + 1)];
}
