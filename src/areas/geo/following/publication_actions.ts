/** The publication of a primary, and the slots that keep its changes for its secondaries. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { conflict } from '../../../http/index.ts';
import { followerRole, publication } from './definition.ts';
import { commonTables } from './queries.ts';

const list = (tables: readonly string[]) => sql.join(tables.map((table) => sql.table(table)));

/**
 * A publication of all tables can have no exceptions, so each start of a primary adds the tables created by migrations.
 */
async function publish(tx: Database): Promise<void> {
  const { rows: published } = await sql<{ name: string }>`
    select tablename as name from pg_publication_tables where pubname = ${publication} order by tablename`.execute(tx);
  const tables = await commonTables(tx);
  if (published.length === 0) {
    await sql`drop publication if exists ${sql.ref(publication)}`.execute(tx);
    await sql`create publication ${sql.ref(publication)} for table ${list(tables)} with (publish_via_partition_root = true)`.execute(
      tx,
    );
  } else if (JSON.stringify(published.map(({ name }) => name).sort()) !== JSON.stringify([...tables].sort()))
    await sql`alter publication ${sql.ref(publication)} set table ${list(tables)}`.execute(tx);
}

/** A role that can only read and replicate. Any account that can reach the socket may use it. */
async function addFollowerRole(tx: Database): Promise<void> {
  const { rows } = await sql`select from pg_roles where rolname = ${followerRole}`.execute(tx);
  if (rows.length === 0) await sql`create role ${sql.ref(followerRole)} login replication`.execute(tx);
  await sql`grant pg_read_all_data to ${sql.ref(followerRole)}`.execute(tx);
}

/**
 * Prepares the database of a primary for replication to its secondaries.
 * @param isEmbedded whether it is the embedded database; in another one, the operator creates the role
 */
export async function preparePrimary(db: Database, isEmbedded: boolean): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await publish(tx);
    if (isEmbedded) await addFollowerRole(tx);
  });
}

const slotsOf = (node_id: number) => `coppice_${node_id}_`;

/**
 * Drops the slots of a secondary, including those left over from a copy of tables, and ends the connections that use
 * them.
 * @param system the identifier of its database cluster, if it is known
 */
async function dropSlots(db: Database, node_id: number, system: string | undefined): Promise<void> {
  const wanted = sql`(starts_with(slot_name, ${slotsOf(node_id)}) or slot_name ~ ${`^pg_\\d+_sync_\\d+_${system ?? 'none'}$`})`;
  for (let attempt = 0; attempt < 50; attempt++) {
    await sql`select pg_terminate_backend(active_pid) from pg_replication_slots where active_pid is not null and ${wanted}`.execute(
      db,
    );
    await sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where active_pid is null and ${wanted}`.execute(
      db,
    );
    const { rows } = await sql`select from pg_replication_slots where ${wanted}`.execute(db);
    if (rows.length === 0) return;
    await sleep(100);
  }
  throw conflict('The slots of the site are still in use.');
}

/**
 * Creates a new slot for a secondary, which replaces its earlier ones.
 * @returns its name, which is unique: a subscription can never continue from the slot of another copy
 */
export async function renewSlot(db: Database, node_id: number, system: string): Promise<string> {
  await dropSlots(db, node_id, system);
  const slot = `${slotsOf(node_id)}${randomBytes(4).toString('hex')}`;
  await sql`select pg_create_logical_replication_slot(${slot}, 'pgoutput')`.execute(db);
  return slot;
}

/** Slots of nodes: their names contain the node's id. */
const ofNodes = sql`slot_name ~ '^coppice_\\d+_[0-9a-f]{8}$'`;

/** Ends the sessions of nodes that are no longer allowed to connect, and drops the slots of deleted nodes. */
export async function endUnwantedSlots(db: Database): Promise<void> {
  const nodes = sql`select from geo_nodes where starts_with(slot_name, 'coppice_' || id || '_')`;
  await sql`select pg_terminate_backend(active_pid) from pg_replication_slots
             where active_pid is not null and ${ofNodes} and not exists (${nodes} and enabled and not "primary")`.execute(
    db,
  );
  await sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots
             where active_pid is null and ${ofNodes} and not exists (${nodes})`.execute(db);
}
