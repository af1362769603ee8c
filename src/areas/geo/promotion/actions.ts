/** Making a secondary the primary (docs/reference/geo.md#promotion). */
import { sql } from 'kysely';
import { type Database, stamped } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { endSubscription } from '../following/index.ts';

/** An old primary may have given numbers that have not arrived here. */
const skipped = 1000;

/** Sequences are not replicated. */
async function raiseSequences(tx: Database): Promise<void> {
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

/**
 * Makes this site the primary, and disables the node of the old one. It is one transaction: an interrupted promotion has not happened.
 * @param services of a secondary whose database is complete
 */
export const promote = ({ db, geo }: Pick<Services, 'db' | 'geo'>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await endSubscription(tx, null);
    await raiseSequences(tx);
    await tx
      .updateTable('geo_nodes')
      .set(stamped({ primary: false, enabled: false }))
      .where('primary', '=', true)
      .execute();
    const now = sql<string>`now()`;
    await tx
      .updateTable('geo_nodes')
      .set(stamped({ primary: true, enabled: true, selective_sync_type: null, promoted_at: now }))
      .where('name', '=', geo.nodeName)
      .execute();
    await tx.updateTable('geo_following').set({ promoted_at: now }).execute();
  });
