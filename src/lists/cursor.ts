/** Cursors: they record where a page ended, so that the next page costs the same at any depth (docs/decisions/0100-three-ways-to-read-a-page.md). */
import { hash } from 'node:crypto';
import {
  ColumnNode,
  ExpressionWrapper,
  type OperationNode,
  type OrderByItemNode,
  type RawBuilder,
  RawNode,
  ReferenceNode,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { type Database, isDataException } from '../db/index.ts';
import { badParams } from '../http/index.ts';

/** A key that a list is sorted by. */
export interface SortKey {
  column: RawBuilder<unknown>;
  sort: 'asc' | 'desc';
  /** The position of the rows without a value, if there may be any. */
  nulls?: 'first' | 'last';
}

/** A row of a list that has one or several consecutive parts. */
export interface Position {
  part: number;
  /** The values of the sort keys of its part, as PostgreSQL prints them. */
  values: readonly (string | null)[];
}

/** Identifies an order; cursors of other orders are refused. */
const nameOf = (db: Database, parts: readonly (readonly SortKey[])[]): string => {
  const keys = parts.flat().map(({ column, sort }) => sql`${column} ${sql.raw(sort)}`);
  return hash('sha1', sql.join(keys).compile(db).sql, 'base64url').slice(0, 8);
};

/** @param parts the sort keys of each part of the list */
export const writeCursor = (db: Database, parts: readonly (readonly SortKey[])[], { part, values }: Position): string =>
  Buffer.from(JSON.stringify([nameOf(db, parts), part, ...values])).toString('base64url');

function arrayIn(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    // The cursor is invalid; the caller refuses it.
    return [];
  }
}

/** Refuses a cursor. */
export const invalidCursor = () => badParams('cursor is invalid');

/**
 * @param parts the sort keys of each part of the list
 * @throws ApiError 400 for a cursor of another list
 */
export function readCursor(db: Database, text: string, parts: readonly (readonly SortKey[])[]): Position {
  const [name, part, ...values] = arrayIn(text);
  const keys = typeof part === 'number' ? parts[part] : undefined;
  const isValue = (value: unknown) => value === null || typeof value === 'string';
  if (!keys || keys.length !== values.length || !values.every(isValue) || name !== nameOf(db, parts))
    throw invalidCursor();
  return { part: part as number, values: values as (string | null)[] };
}

/**
 * Reads a page after a cursor, whose values may be invalid for their columns.
 * @throws ApiError 400
 */
export async function readBehind<T>(cursor: string | undefined, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw cursor !== undefined && isDataException(error) ? invalidCursor() : error;
  }
}

const isEqual = ({ column }: SortKey, value: string | null) =>
  value === null ? sql`${column} is null` : sql`${column} = ${value}`;

/** The rows that one key sorts after a value: rows with greater values, and rows without a value. */
function beyond({ column, sort, nulls }: SortKey, value: string | null): RawBuilder<unknown>[] {
  if (value === null) return nulls === 'first' ? [sql`${column} is not null`] : [];
  const further = sql`${column} ${sql.raw(sort === 'asc' ? '>' : '<')} ${value}`;
  return nulls === 'last' ? [further, sql`${column} is null`] : [further];
}

/**
 * The rows of a list after the row with the given values: first the rows that differ from it in the last key only. Each of these ranges is contiguous in an index on
 * the keys.
 * @param keys the last of them is unique
 */
export const rangesBehind = (keys: readonly SortKey[], values: Position['values']): RawBuilder<SqlBool>[] =>
  [...keys.entries()].toReversed().flatMap(([place, key]) => {
    const same = keys.slice(0, place).map((before, index) => isEqual(before, values[index]!));
    return beyond(key, values[place]!).map((range) => sql<SqlBool>`(${sql.join([...same, range], sql` and `)})`);
  });

/** A list of texts, as JSON. */
export const textsOf = (columns: readonly RawBuilder<unknown>[]): RawBuilder<(string | null)[]> =>
  sql`json_build_array(${sql.join(columns.map((column) => sql`${column}::text`))})`;

/** The node in a raw text that contains only this node, as `sql.ref` creates it. */
function bare(node: OperationNode): OperationNode {
  if (!RawNode.is(node)) return node;
  const [only, ...others] = node.parameters;
  return only && others.length === 0 && node.sqlFragments.every((text) => text === '') ? bare(only) : node;
}

/** Whether a node refers to a column, given with or without its table. */
function isReferenceTo(id: string, node: OperationNode): boolean {
  const reference = bare(node);
  if (!ReferenceNode.is(reference) || !ColumnNode.is(reference.column)) return false;
  const [name, table] = [reference.column.column.name, reference.table?.table.identifier.name];
  return id === (table === undefined ? id.replace(/[^.]*$/, name) : `${table}.${name}`);
}

function keyOf({ orderBy, direction, nulls }: OrderByItemNode): SortKey {
  const sort = direction && RawNode.is(direction) && direction.sqlFragments[0] === 'desc' ? 'desc' : 'asc';
  return { column: sql`${new ExpressionWrapper(orderBy)}`, sort, nulls: nulls ?? (sort === 'desc' ? 'first' : 'last') };
}

/**
 * The sort keys of a query, if the last of them is unique.
 * @param id the unique column
 */
export function sortKeysOf<D, T extends keyof D, Row>(
  query: SelectQueryBuilder<D, T, Row>,
  id: string,
): SortKey[] | undefined {
  const items = query.toOperationNode().orderBy?.items ?? [];
  const last = items.at(-1);
  return last && isReferenceTo(id, last.orderBy) ? items.map(keyOf) : undefined;
}
