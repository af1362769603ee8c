/** Copying the database of the primary, for the first time or again. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { askPrimaryForJson, type Site as LinkedSite } from '../link/request_actions.ts';
import { type Followed, followerRole, publication, subscription } from './definition.ts';
import { commonTables } from './queries.ts';
import { tunnelAddress } from './tunnel_actions.ts';

const wait = sql`set local lock_timeout = '10s'`;

/**
 * Drops the subscription here and resets its position. The slot on the primary, which may be unreachable, is not
 * dropped.
 * @param problem the reason as a sentence, unless it is an ordinary start
 */
export async function endSubscription(tx: Database, problem: string | null): Promise<void> {
  await wait.execute(tx);
  const { rows } = await sql`
    select from pg_subscription
     where subname = ${subscription} and subdbid = (select oid from pg_database where datname = current_database())`.execute(
    tx,
  );
  if (rows.length > 0) {
    const name = sql.ref(subscription);
    await sql`alter subscription ${name} disable`.execute(tx);
    await sql`alter subscription ${name} set (slot_name = none)`.execute(tx);
    await sql`drop subscription ${name}`.execute(tx);
  }
  await tx
    .updateTable('geo_following')
    .set({ state: 'waiting', problem, slot: null, copied_at: null, awaited_position: null, caught_up_at: null })
    .execute();
}

/** Triggers of TRUNCATE. Tables such as the audit events refuse it, but here the primary keeps their rows. */
async function truncationTriggers(tx: Database): Promise<{ table: string; name: string }[]> {
  const { rows } = await sql<{ table: string; name: string }>`
    select relname as table, tgname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
     where relnamespace = 'public'::regnamespace and not tgisinternal and tgtype & 32 <> 0`.execute(tx);
  return rows;
}

/**
 * Also empties, by cascade, the site's own unlogged tables that refer to the common ones; a crash empties those, too.
 */
async function emptyTables(tx: Database): Promise<void> {
  const { rows } = await sql`select from geo_following where promoted_at is not null`.execute(tx);
  if (rows.length > 0) throw new Error('This site was made the primary.');
  const tables = await commonTables(tx);
  const triggers = await truncationTriggers(tx);
  for (const { table, name } of triggers)
    await sql`alter table ${sql.table(table)} disable trigger ${sql.ref(name)}`.execute(tx);
  await sql`truncate table ${sql.join(tables.map((table) => sql.table(table)))} cascade`.execute(tx);
  for (const { table, name } of triggers)
    await sql`alter table ${sql.table(table)} enable trigger ${sql.ref(name)}`.execute(tx);
}

/** A value in a connection string of libpq. */
const quoted = (value: string | number) => `'${String(value).replaceAll(/[\\']/g, '\\$&')}'`;

async function addressOf({ geo }: LinkedSite, db: Database, { database }: Followed): Promise<string> {
  if (geo.databaseUrl !== undefined) return geo.databaseUrl;
  const { host, port } = await tunnelAddress(db);
  return Object.entries({ host, port, user: followerRole, dbname: database })
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(' ');
}

/**
 * Empties the tables and copies the primary's. An interruption at any point leaves either no subscription, so that the
 * copy starts again, or a complete one.
 */
export async function startCopy(
  site: LinkedSite,
  db: Database,
  followed: Followed,
  server: string,
  problem: string | null,
): Promise<void> {
  await db.transaction().execute((tx) => endSubscription(tx, problem));
  const { rows } = await sql<{
    system: string;
  }>`select system_identifier::text as system from pg_control_system()`.execute(db);
  const path = `/slot?server=${server}&system=${rows[0]!.system}`;
  const { slot } = await askPrimaryForJson<{ slot: string }>(site, { method: 'POST', path });
  const address = await addressOf(site, db, followed);
  await db.transaction().execute(async (tx) => {
    await wait.execute(tx);
    await emptyTables(tx);
    await sql`create subscription ${sql.ref(subscription)} connection ${sql.lit(address)} publication ${sql.ref(publication)}
                with (create_slot = false, slot_name = ${sql.lit(slot)}, streaming = on)`.execute(tx);
    await tx.updateTable('geo_following').set({ state: 'copying', slot }).execute();
  });
}
