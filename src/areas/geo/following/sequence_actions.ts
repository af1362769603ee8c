/** The sequences of a site that becomes writable. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** An old primary may have assigned numbers in rows that were not replicated. */
const skipped = 1000;

/**
 * Raises the sequences above the numbers in use: sequences are not replicated, so those of a secondary would assign
 * numbers again.
 */
export async function raiseSequences(tx: Database): Promise<void> {
  const { rows } = await sql<{ sequence: string; owner: string; column: string }>`
    select sequences.oid::regclass::text as sequence, refobjid::regclass::text as owner, attname as column
      from pg_class sequences
      join pg_depend on objid = sequences.oid and classid = 'pg_class'::regclass and deptype in ('a', 'i')
      join pg_attribute on attrelid = refobjid and attnum = refobjsubid
     where sequences.relkind = 'S' and sequences.relnamespace = 'public'::regnamespace`.execute(tx);
  const raised = rows.map(
    ({ sequence, owner, column }) => sql`
      select setval(${sequence}::regclass, greatest((select max(${sql.ref(column)}) from ${sql.table(owner)}), last_value) + ${sql.lit(skipped)}) from ${sql.table(sequence)}`,
  );
  await sql`select count(*) from (${sql.join(raised, sql` union all `)}) raised`.execute(tx);
}
