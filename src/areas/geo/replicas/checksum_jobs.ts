/**
 * The work of a primary for its secondaries: it records changes while there are any secondaries, and computes checksums
 * (docs/reference/geo.md#checksums).
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { job, type Poll } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { computeChecksum, type DueChecksum, fillChecksums } from './checksum_actions.ts';
import { cursorNamed, forgetCursor, setCursor } from './cursor_queries.ts';
import { areInBucket, type Part, parts, type Replicable } from './definition.ts';

/** The number of events read at once; several may be about one record. */
const events_at_once = 100;
const due_at_once = 20;

/** Whether blobs are copied: blobs in a bucket are copied only if a secondary requests it. */
async function copiesFiles({ db, blobs }: Pick<JobServices, 'db' | 'blobs'>): Promise<boolean> {
  if (!areInBucket(blobs)) return true;
  const wanting = db
    .selectFrom('geo_nodes')
    .select('id')
    .where('primary', '=', false)
    .where('sync_object_storage', '=', true);
  return (await wanting.limit(1).executeTakeFirst()) !== undefined;
}

const copied = async (services: Pick<JobServices, 'db' | 'blobs'>): Promise<readonly Replicable[]> =>
  (await copiesFiles(services)) ? [...parts.repositories, ...parts.files] : parts.repositories;

async function hasSecondary({ db, geo }: Pick<JobServices, 'db' | 'geo'>): Promise<boolean> {
  if (geo.role !== 'primary') return false;
  const secondary = db.selectFrom('geo_nodes').select('id').where('primary', '=', false).limit(1);
  return (await secondary.executeTakeFirst()) !== undefined;
}

/** Starts recording changes when the first secondary is added, and deletes all records when the last one is removed. */
const recordChanges: Poll = {
  name: 'record_geo_changes',
  every_ms: 1000,
  run: async (services) => {
    const { db } = services;
    const isRecording = (await cursorNamed(db, 'recording')) !== undefined;
    const isWanted = await hasSecondary(services);
    if (isWanted === isRecording) return false;
    if (isWanted) {
      // Committed first, so that changes during the full scan are recorded.
      await setCursor(db, 'recording', 'since');
      await fillChecksums(services, await copied(services));
    } else
      await db.transaction().execute(async (tx) => {
        await forgetCursor(tx, 'recording');
        await tx.deleteFrom('geo_events').execute();
        await tx.deleteFrom('geo_checksums').execute();
      });
    return false;
  },
};

/**
 * Computes the checksums of changed records. Several processes may process the same event; the result for the later
 * event wins.
 */
const followEvents = (part: Part): Poll => ({
  name: `follow_events_of_${part}`,
  every_ms: 500,
  run: async ({ log: _log, ...services }) => {
    const { db } = services;
    const { rows } = await sql<DueChecksum & { ids: number[] }>`
      select replicable, record, max(id) as event_id, array_agg(id) as ids, false as is_repeated
        from (select id, replicable, record from geo_events
               where not is_checked and part = ${part} order by id limit ${events_at_once}) waiting
       group by replicable, record order by event_id`.execute(db);
    const are_copied = rows.length > 0 ? await copied(services) : [];
    for (const { ids, ...due } of rows) {
      if (are_copied.includes(due.replicable)) await computeChecksum(services, due);
      await sql`update geo_events set is_checked = true where id = any(${ids}::bigint[])`.execute(db);
    }
    return rows.length > 0;
  },
});

async function dueIn(db: Database, part: Part): Promise<DueChecksum[]> {
  const { rows } = await sql<DueChecksum>`
    select replicable, record, event_id, checked_at is not null as is_repeated from geo_checksums
     where due_at <= now() and part = ${part} order by due_at, replicable, record limit ${due_at_once}`.execute(db);
  return rows;
}

/** Computes the checksums of records that have none yet, or whose checksum is old. */
const checkDue = (part: Part): Poll => ({
  name: `check_due_${part}`,
  every_ms: 2000,
  run: async ({ log: _log, ...services }) => {
    const due = await dueIn(services.db, part);
    for (const each of due) await computeChecksum(services, each);
    return due.length === due_at_once;
  },
});

/**
 * Finds records that no event has announced, and deletes old events: secondaries receive events as soon as they are
 * written.
 */
export const keepChecksums = job('keep_geo_checksums', {
  input: {},
  retries: 0,
  schedule: '17 * * * *',
  run: async (services) => {
    const { db } = services;
    if ((await cursorNamed(db, 'recording')) === undefined) return;
    await fillChecksums(services, await copied(services));
    await sql`delete from geo_events where is_checked and created_at < now() - interval '1 day'`.execute(db);
  },
});

export const primaryPolls: readonly Poll[] = [
  recordChanges,
  followEvents('repositories'),
  followEvents('files'),
  checkDue('repositories'),
  checkDue('files'),
];
