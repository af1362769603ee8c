import { type RawBuilder, sql } from 'kysely';

/**
 * Columns to write to a row, with the time of the change. The time stays when no column gets another value, so that saving an unedited form does not make a row
 * newer.
 * @param columns undefined ones are not written
 * @param isChanged whether other values change with them, or only their case, which a comparison of case-insensitive columns does not detect
 */
export function stamped<C extends object>(columns: C, isChanged = false): C & { updated_at: RawBuilder<string> } {
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  const [names, values] = [given.map(([name]) => sql.ref(name)), given.map(([, value]) => sql`${value}`)];
  const updated_at = isChanged
    ? sql<string>`now()`
    : given.length === 0
      ? sql<string>`updated_at`
      : sql<string>`case when (${sql.join(names)}) is distinct from (${sql.join(values)}) then now() else updated_at end`;
  return { ...columns, updated_at };
}
