/** Tables of query parameters: each line is one parameter, its schema and its predicate. */
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Static, TOptional, TSchema } from 'typebox';
import type { DB } from '../db/index.ts';
import { allOptional } from './types.ts';

interface Filter<T extends keyof DB, S extends TSchema> {
  schema: S;
  matches(q: ExpressionBuilder<DB, T>, value: never): Expression<SqlBool>;
}
type By<T extends keyof DB> = <S extends TSchema>(
  schema: S,
  matches: (q: ExpressionBuilder<DB, T>, value: Static<S>) => Expression<SqlBool>,
) => Filter<T, S>;

/**
 * Filters on a table.
 * @returns `input`: the parameters for an endpoint's declaration; `matching`: the predicate of those that were given
 */
export function filtersOn<T extends keyof DB, F extends Record<string, Filter<T, TSchema>>>(
  _table: T,
  build: (by: By<T>) => F,
) {
  const filters = build((schema, matches) => ({ schema, matches }));
  const schemas = Object.fromEntries(Object.entries(filters).map(([name, filter]) => [name, filter.schema]));
  const given = (values: object) =>
    Object.entries(values).filter(([name, value]) => name in filters && value !== undefined && value !== null);
  return {
    input: allOptional(schemas) as { [Name in keyof F]: TOptional<F[Name]['schema']> },
    matching: (values: object) => (q: ExpressionBuilder<DB, T>) =>
      q.and(given(values).map(([name, value]) => filters[name]!.matches(q, value as never))),
  };
}

/** `text` as a pattern for `ilike` that finds it anywhere: `%` and `_` are escaped. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
