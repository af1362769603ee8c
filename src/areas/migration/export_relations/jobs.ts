/** Writing exports in the background (docs/reference/relations_export.md#how-an-export-runs, docs/decisions/0086-exports-wait-as-rows.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { BlobStoreError } from '../../../blobs/index.ts';
import { type Database, isUnavailable } from '../../../db/index.ts';
import { type JobCall, job, type Poll, whileOurs } from '../../../jobs/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { BegunFile } from './definition.ts';
import { failFile, retryFile } from './end_actions.ts';
import { writeFile } from './file_actions.ts';
import type { Progress } from './gzip_actions.ts';
import { removeExpired } from './queries.ts';
import { errorName, PermissionDenied, StaleExport } from './rules.ts';
import { beginFile, confirmRun, leaveSlot, TakenOver } from './run_actions.ts';

/** How many attempts a file has. An interrupted run does not count. */
const tries = 3;

const confirmed_ms = 5_000;

/** After this time, jobs of other kinds get their turn. */
const turn_ms = 1_000;

/**
 * Writes waiting files one after another. It can be interrupted at any point: the next job of the same slot writes the
 * last file again. There are as many slots as exports may run at the same time.
 */
export const writeRelationExport = job('write_relation_export', {
  input: { slot: Type.Integer({ minimum: 0 }) },
  retries: 20,
  run: async (call) => {
    const { slot } = call.input;
    for (const until_ms = performance.now() + turn_ms; performance.now() < until_ms; ) {
      if (slot >= (await settingsOf(call.db)).concurrent_relation_export_limit) return leaveSlot(call.db, slot);
      const file = await beginFile(call.db, slot);
      if (!file) return;
      await writeOrRecord(call, file);
      await startWriting(call.db);
    }
  },
});

/** Writes a file, or records the reason for the failure. */
async function writeOrRecord({ signal, log, ...services }: JobCall<unknown>, file: BegunFile): Promise<void> {
  const { db } = services;
  const { relation, batch_number, owner, user_id } = file;
  const described = { relation, batch_number, ...owner, user_id };
  const progress: Progress = { bytes: 0, objects: 0 };
  let confirmed_bytes = 0;
  const confirm = async () => {
    await confirmRun(db, file, progress.bytes > confirmed_bytes);
    confirmed_bytes = progress.bytes;
  };
  try {
    await whileOurs({ every_ms: confirmed_ms, confirm }, signal, (own) =>
      writeFile(services, file, { progress, signal: own, log }),
    );
  } catch (error) {
    if (signal.aborted || isUnavailable(error) || error instanceof BlobStoreError) throw error;
    if (error instanceof TakenOver) log.info(described, 'an export was given up, because it is not needed any more');
    else if (error instanceof PermissionDenied || file.failures + 1 >= tries) {
      log.warn({ ...described, err: error }, 'a relation could not be exported');
      await unlessTakenOver(failFile(db, file, errorName(error)));
    } else {
      log.warn({ ...described, err: error }, 'a relation could not be exported, and is tried again');
      await unlessTakenOver(retryFile(db, file));
    }
  }
}

const unlessTakenOver = (change: Promise<void>): Promise<void> =>
  change.catch((error) => {
    if (!(error instanceof TakenOver)) throw error;
  });

/**
 * Starts jobs for files that wait, or whose run was lost: as many as may run at the same time, one per slot. A slot
 * whose job is running gets another one after it.
 * @param tx the transaction that adds the files, or that frees a slot
 */
export async function startWriting(tx: Database): Promise<void> {
  const { concurrent_relation_export_limit: most } = await settingsOf(tx);
  const { rows } = await sql<{ slot: number }>`
    with taken as (
      select slot from relation_export_files where status = 0 and slot is not null
    ), waiting as (
      select id from relation_export_files where status = 0 and slot is null and due_at <= now() limit ${most}
    )
    select slot from (
      select slot from taken
       union select generate_series(0, least(${most}, (select count(*) from waiting) + (select count(*) from taken)) - 1) where exists (select from waiting)
    ) slots where not exists (
      select from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
       where identifier = ${writeRelationExport.name} and (payload->>'slot')::integer = slot and attempts < max_attempts and locked_at is null)
     order by slot`.execute(tx);
  for (const { slot } of rows)
    await writeRelationExport.enqueue(tx, { slot }, { key: String(slot), queue: `relation_exports_${slot}` });
}

/** A run without progress for this long counts as stale. */
const maximumSilence = sql`interval '6 hours'`;
const atOnce = 100;

/** Fails runs that have made no progress for hours. */
async function failStale(db: Database): Promise<void> {
  const stale = await db
    .selectFrom('relation_export_files')
    .select(['id', 'run', 'export_id', 'batch_number'])
    .where('status', '=', 0)
    .where('slot', 'is not', null)
    .where(sql<boolean>`heard_at < now() - ${maximumSilence}`)
    .limit(atOnce)
    .execute();
  for (const file of stale) await unlessTakenOver(failFile(db, file, errorName(new StaleExport())));
}

/** Resumes exports that are due, or whose job was lost. */
export const continueExports: Poll = {
  name: 'continue relation exports',
  every_ms: 2_000,
  run: async ({ db }) => {
    const started = db.selectFrom('relation_export_files').select('id').where('status', '=', 0).limit(1);
    if (!(await started.executeTakeFirst())) return false;
    await failStale(db);
    await startWriting(db);
    return false;
  },
};

/** Runs every hour. */
export const removeExpiredExports = job('remove_expired_relation_exports', {
  input: {},
  retries: 1,
  schedule: '27 * * * *',
  run: ({ db }) => removeExpired(db),
});
