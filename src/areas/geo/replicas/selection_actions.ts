/**
 * Which copies a secondary should have: all existing records that are selected (docs/reference/geo.md#selective-sync).
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { cursorNamed, setCursor } from './cursor_queries.ts';
import { isRepository, type Replicable, type ReplicableRecord, replicables } from './definition.ts';
import { isThere, recordsOf } from './record_queries.ts';
import type { SiteRules } from './site_queries.ts';

type Records = Pick<JobServices, 'stored_files'>;

/**
 * Adds a row for each selected record. Copies that are no longer selected, or that differ from the primary, become due.
 */
async function select(
  tx: Database,
  { stored_files }: Records,
  replicable: Replicable,
  { selection, copies_files }: SiteRules,
): Promise<void> {
  const isCopied = copies_files || isRepository(replicable);
  const chosen = isCopied ? recordsOf(stored_files, replicable, selection) : sql`select null as record where false`;
  await sql`
    insert into geo_replicas (replicable, record) select ${replicable}, record from (${chosen}) chosen on conflict do nothing`.execute(
    tx,
  );
  await sql`
    update geo_replicas set state = 'pending', retry_at = now(), retry_count = 0
     where replicable = ${replicable} and state <> 'started' and record not in (select record from (${chosen}) chosen)`.execute(
    tx,
  );
  await sql`
    update geo_replicas here set state = 'pending', retry_at = now()
      from geo_checksums there
     where here.replicable = ${replicable} and there.replicable = here.replicable and there.record = here.record
       and state = 'synced' and here.checksum <> there.checksum`.execute(tx);
}

const hour_ms = 3_600_000;

/** Whether a copy is wanted here. */
export async function isChosen(
  tx: Database,
  { stored_files }: Records,
  replica: ReplicableRecord,
  { selection, copies_files }: SiteRules,
): Promise<boolean> {
  return (
    (copies_files || isRepository(replica.replicable)) && (await isThere({ db: tx, stored_files }, replica, selection))
  );
}

/**
 * Compares all copies with the selected records: when the selection or the copy of the database changes, when the node
 * is repaired, and each hour, to find copies without a record and records that no event has announced. Failed copies
 * become due, too.
 * @param tx a transaction in which the database is complete
 */
export async function selectReplicas(tx: Database, records: Records, rules: SiteRules, copy: string): Promise<void> {
  const { copies_files, selection, repaired_at } = rules;
  const value = JSON.stringify([copy, copies_files, selection, repaired_at, Math.floor(Date.now() / hour_ms)]);
  if ((await cursorNamed(tx, 'selection')) === value) return;
  for (const replicable of replicables) await select(tx, records, replicable, rules);
  await sql`update geo_replicas set retry_at = now() where state = 'failed'`.execute(tx);
  await setCursor(tx, 'selection', value);
}
