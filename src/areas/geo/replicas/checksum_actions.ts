/** The checksums of the primary: which ones exist, and how a new result compares with the stored one. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { type Checked, check, type ReplicaServices } from './checking_actions.ts';
import { isRepository, type Replicable, type ReplicableRecord } from './definition.ts';
import { isThere, recordsOf } from './record_queries.ts';

/** A checksum to be computed. */
export interface DueChecksum extends ReplicableRecord {
  /** The last event about the record. */
  event_id: number;
  /** Whether it was computed before and nothing has changed since, so that a different result means damage. */
  is_repeated: boolean;
}

/** When a damaged record is checked again. */
const pauseOfDamage = sql`interval '10 minutes'`;

/** The interval is a setting of the primary's own node. */
const interval = sql`make_interval(days => coalesce((select minimum_reverification_interval from geo_nodes where "primary"), 7))`;

/**
 * Stores a result, unless a later one is already stored. The checksum from before the damage is kept, because intact
 * copies still match it.
 */
async function writeChecked(
  db: Database,
  { replicable, record, event_id }: DueChecksum,
  found: Checked,
): Promise<void> {
  const { checksum, head, size_bytes, failure, is_missing } = found;
  await sql`
    insert into geo_checksums as known (replicable, record, checksum, head, size_bytes, event_id, checked_at, due_at, failure, is_missing)
    values (${replicable}, ${record}, ${checksum}, ${head}, ${size_bytes}, ${event_id}, now(),
            now() + ${failure === null ? interval : pauseOfDamage}, ${failure}, ${is_missing})
        on conflict (replicable, record) do update
       set checksum = coalesce(excluded.checksum, known.checksum), head = coalesce(excluded.head, known.head),
           size_bytes = coalesce(excluded.size_bytes, known.size_bytes), event_id = excluded.event_id, checked_at = excluded.checked_at,
           due_at = excluded.due_at, failure = excluded.failure, is_missing = excluded.is_missing
     where known.event_id <= excluded.event_id`.execute(db);
}

const known = (db: Database, { replicable, record }: ReplicableRecord) =>
  db.selectFrom('geo_checksums').where('replicable', '=', replicable).where('record', '=', record);

const forget = async (db: Database, { replicable, record }: ReplicableRecord): Promise<void> => {
  await db.deleteFrom('geo_checksums').where('replicable', '=', replicable).where('record', '=', record).execute();
};

/** Computes and stores a checksum, or deletes it if the record no longer exists. */
export async function computeChecksum(services: ReplicaServices, due: DueChecksum): Promise<void> {
  const { db } = services;
  const columns = ['checksum', 'head', 'size_bytes', 'failure', 'is_missing'] as const;
  const before = await known(db, due).select(columns).executeTakeFirst();
  const isDamaged = (before?.failure ?? null) !== null;
  // The content of a blob never changes.
  const digest = isRepository(due.replicable) ? null : (before?.checksum ?? null);
  if (before && digest !== null && !isDamaged && !due.is_repeated)
    return (await isThere(services, due)) ? writeChecked(db, due, before) : forget(db, due);
  // Damage is checked as thoroughly as when it was found.
  const found = await check(services, due, due.is_repeated || isDamaged);
  if (!found) return forget(db, due);
  const isOther = digest !== null && found.checksum !== null && found.checksum !== digest;
  await writeChecked(
    db,
    due,
    isOther ? { ...found, checksum: null, failure: `its SHA-256 is ${found.checksum}` } : found,
  );
}

/**
 * Adds a due row for every record without one, and deletes the rows of records that no longer exist.
 * @param of the replicables that are copied
 */
export async function fillChecksums(
  { db, stored_files }: Pick<JobServices, 'db' | 'stored_files'>,
  of: readonly Replicable[],
): Promise<void> {
  for (const replicable of of) {
    await sql`
      insert into geo_checksums (replicable, record) select ${replicable}, record from (${recordsOf(stored_files, replicable)}) found
          on conflict do nothing`.execute(db);
    await sql`
      delete from geo_checksums where replicable = ${replicable}
         and record not in (select record from (${recordsOf(stored_files, replicable)}) found)`.execute(db);
  }
}
