/** Recording that a file of an export is complete, has failed, or will be retried. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Batch } from '../../../relations/index.ts';
import { useBlob } from '../../instance/blobs/index.ts';
import { type BegunFile, type State, states, type WrittenFile } from './definition.ts';
import { waitsAgain } from './queries.ts';
import { asItsRun, type Run } from './run_actions.ts';

const endFile = (tx: Database, { id }: Run, status: State, error: string | null, written?: WrittenFile) =>
  sql`
    update relation_export_files set status = ${status}, error = ${error}, slot = null, updated_at = now(), objects_count = ${written?.objects_count ?? 0},
           blob_key = ${written?.key ?? sql`blob_key`}, size_bytes = ${written?.size_bytes ?? sql`size_bytes`}, sha256 = ${written?.sha256 ?? sql`sha256`}
     where id = ${id}`.execute(tx);

/** Ends an export if its only file has ended, or its batches could not be listed. */
const endExport = (tx: Database, id: number, status: State, error: string | null, total_objects_count = 0) =>
  tx
    .updateTable('relation_exports')
    .set({ status, error, total_objects_count, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();

/** Counts the written batches, and ends the export when all have ended: it has failed if all batches have failed. */
const concludeBatches = (tx: Database, export_id: number) =>
  sql`
    update relation_exports
       set status = case when waiting > 0 then 0 when failed = batches_count and failed > 0 then -1 else 1 end,
           error = case when failed = batches_count then first_error end, total_objects_count = objects, updated_at = now()
      from (select count(*) filter (where status = 0) as waiting, count(*) filter (where status = -1) as failed,
                   coalesce(sum(objects_count), 0) as objects, (array_agg(error order by batch_number) filter (where status = -1))[1] as first_error
              from relation_export_files where export_id = ${export_id} and batch_number > 0) counted
     where id = ${export_id}`.execute(tx);

const isBatch = ({ batch_number }: Pick<BegunFile, 'batch_number'>): boolean => batch_number > 0;

/**
 * Records a complete file, replacing the file of an earlier export.
 * @throws TakenOver
 */
export const finishFile = (db: Database, file: BegunFile, written: WrittenFile): Promise<void> =>
  asItsRun(db, file, async (tx) => {
    await endFile(tx, file, states.finished, null, written);
    await useBlob(tx, written.key);
    if (isBatch(file)) await concludeBatches(tx, file.export_id);
    else {
      await endExport(tx, file.export_id, states.finished, null, written.objects_count);
      await removeBatches(tx, file.export_id, 0);
    }
  });

const removeBatches = (tx: Database, export_id: number, last: number) =>
  tx.deleteFrom('relation_export_files').where('export_id', '=', export_id).where('batch_number', '>', last).execute();

/**
 * Schedules the batches of an export. An export without batches is finished.
 * @throws TakenOver
 */
export const finishPlan = (db: Database, file: BegunFile, batches: readonly Batch[]): Promise<void> =>
  asItsRun(db, file, async (tx) => {
    const { export_id } = file;
    await endFile(tx, file, states.finished, null);
    // Removes the file of an earlier unbatched export.
    const nothing = { blob_key: null, size_bytes: null, sha256: null };
    await tx.updateTable('relation_export_files').set(nothing).where('id', '=', file.id).execute();
    await removeBatches(tx, export_id, batches.length);
    await sql`
      insert into relation_export_files as files (export_id, batch_number, first_id, last_id)
      select ${export_id}, batch_number, first_id, last_id
        from unnest(${batches.map(({ first_id }) => first_id)}::bigint[], ${batches.map(({ last_id }) => last_id)}::bigint[])
             with ordinality batches(first_id, last_id, batch_number)
      on conflict (export_id, batch_number) do update set first_id = excluded.first_id, last_id = excluded.last_id, ${waitsAgain}`.execute(
      tx,
    );
    const batches_count = batches.length;
    await tx.updateTable('relation_exports').set({ batches_count }).where('id', '=', export_id).execute();
    await concludeBatches(tx, export_id);
  });

/**
 * Records that a file cannot be written.
 * @param error the name that the API shows
 * @throws TakenOver
 */
export const failFile = (db: Database, file: Run & Pick<BegunFile, 'batch_number'>, error: string): Promise<void> =>
  asItsRun(db, file, async (tx) => {
    await endFile(tx, file, states.failed, error);
    if (isBatch(file)) await concludeBatches(tx, file.export_id);
    else await endExport(tx, file.export_id, states.failed, error);
  });

/** The pause before the second attempt; the third one waits longer. */
const pause_s = 5;

/**
 * Schedules a retry of a file after a failure.
 * @throws TakenOver
 */
export const retryFile = (db: Database, file: BegunFile): Promise<void> =>
  asItsRun(db, file, async (tx) => {
    const failures = file.failures + 1;
    await sql`
      update relation_export_files set slot = null, heard_at = null, failures = ${failures}, due_at = now() + make_interval(secs => ${pause_s * failures ** 2})
       where id = ${file.id}`.execute(tx);
  });
