/**
 * Rows as JSON that PostgreSQL builds from typed expressions, for snapshots that are read later. The types of the values
 * follow from the tables.
 */
import { type InsertType, type RawBuilder, type SelectType, sql } from 'kysely';
import type { Static, TProperties } from 'typebox';
import type { DB } from './schema.ts';
import { momentInJson } from './values.ts';

/** The members of an object, as expressions. */
export type Parts = Readonly<Record<string, RawBuilder<unknown>>>;
/** The object that is built from them. */
export type Built<P extends Parts> = { [Name in keyof P]: P[Name] extends RawBuilder<infer Value> ? Value : never };

/** The columns of a table that need no formatting. PostgreSQL writes times into JSON differently than we send them. */
type Plain<T extends keyof DB> = {
  [Column in keyof DB[T]]: Date extends InsertType<DB[T][Column]> ? never : Column;
}[keyof DB[T]] &
  string;

/** A schema that describes the values of a column, or some of them. */
type Fitting<Column, S> = [Static<S & TProperties[string]>] extends [Column]
  ? null extends Column
    ? null extends Static<S & TProperties[string]>
      ? S
      : never
    : S
  : never;

/** @returns an expression of type `json` */
export const objectInJson = <P extends Parts>(parts: P): RawBuilder<Built<P>> =>
  sql`json_build_object(${sql.join(Object.entries(parts).flatMap(([name, part]) => [sql.lit(name), part]))})`;

/** Columns of a table by their names, as parts of an object or as columns of another select. Times are left out: they need their format in JSON. */
export const plainColumns = <T extends keyof DB & string, C extends Plain<T>>(table: T, columns: readonly C[]) =>
  Object.fromEntries(columns.map((column) => [column, sql.ref(`${table}.${column}`)])) as unknown as {
    readonly [Column in C]: RawBuilder<SelectType<DB[T][Column]>>;
  };

/**
 * The columns that a schema declares, as parts of an object.
 * @param properties by the names of columns; those with the format `date-time` become text as in replies
 * @param computed the properties that are no columns
 */
export const membersInJson = <T extends keyof DB & string, P extends TProperties, C extends keyof P & string = never>(
  table: T,
  properties: P & {
    [Name in Exclude<keyof P, C>]: Name extends keyof DB[T] ? Fitting<SelectType<DB[T][Name]>, P[Name]> : never;
  },
  computed: readonly C[] = [],
) =>
  Object.fromEntries(
    Object.entries(properties as TProperties)
      .filter(([name]) => !computed.some((each) => each === name))
      .map(([name, schema]) => {
        const column = `${table}.${name}`;
        return [name, isMoment(schema) ? momentInJson(column) : sql.ref(column)];
      }),
  ) as unknown as { readonly [Name in Exclude<keyof P, C>]: RawBuilder<Static<P[Name]>> };

function isMoment(schema: TProperties[string]): boolean {
  const { format, anyOf = [] } = schema as { format?: string; anyOf?: TProperties[string][] };
  return format === 'date-time' || anyOf.some(isMoment);
}

/**
 * The row of a table with an id; null without an id.
 * @param id of a row that exists
 * @param parts columns of the table, and of those that `joined` adds
 */
export const rowInJson = <P extends Parts, I extends number | null>(
  table: keyof DB,
  id: RawBuilder<I>,
  parts: P,
  joined: RawBuilder<unknown> = sql``,
): RawBuilder<Built<P> | Extract<I, null>> =>
  sql`(select ${objectInJson(parts)} from ${sql.table(table)} ${joined} where ${sql.ref(`${table}.id`)} = ${id})`;

/**
 * Rows as a list.
 * @param from what follows `select`, e.g. `from labels where …`
 * @param order what follows `order by`
 */
export const rowsInJson = <P extends Parts>(
  parts: P,
  from: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): RawBuilder<Built<P>[]> => sql`(select coalesce(json_agg(${objectInJson(parts)} order by ${order}), '[]') ${from})`;
