/** Makes blobs of the logs of jobs that have ended (docs/reference/job_logs.md). */
import { sql } from 'kysely';
import { newBlobKey } from '../../../blobs/index.ts';
import { repeated } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { removeUnusedBlob, storeBlob, useBlob } from '../../instance/blobs/index.ts';
import type { HeldJob } from '../held_jobs/queries.ts';
import { closeLog } from './actions.ts';
import { jobLogFiles, logOf, readLog } from './queries.ts';

export type Place = Pick<Services, 'db' | 'blobs' | 'secrets'>;
export type EndedJob = Pick<HeldJob, 'id' | 'masked_values' | 'held_back'>;

/**
 * Logs in pieces of jobs that no runner has held for a minute, so that none is being written.
 * @param after the id of the last job that was looked at
 */
export async function logsToStore({ db }: Place, after: number, most: number): Promise<EndedJob[]> {
  const { rows } = await sql<EndedJob>`
    select job_logs.job_id as id, masked_values, held_back from job_logs join job_runs on job_runs.job_id = job_logs.job_id
     where blob_key is null and job_logs.job_id > ${after} and ended_at < now() - interval '1 minute'
     order by job_logs.job_id limit ${sql.lit(most)}`.execute(db);
  return rows;
}

/** Makes a blob of a log that is kept in pieces. One that changes meanwhile, or that is gone, stays as it is. */
export async function storeLog(services: Place, job: EndedJob): Promise<void> {
  const { db, blobs } = services;
  // A runner that lost the job did not send the end of its log.
  if (job.held_back !== null) await closeLog(services, job);
  const log = await logOf(db, job.id);
  if (log?.blob_key !== null) return;
  const bounds = { at_most_bytes: log.kept_size };
  const received = await blobs.receive(newBlobKey(jobLogFiles.kind), await readLog(services, log), bounds);
  if (received.size_bytes !== log.kept_size) return received.discard();
  const key = await storeBlob(db, received);
  let isUsed = false;
  try {
    isUsed = await repeated(db, async (tx) => {
      const stored = await tx
        .updateTable('job_logs')
        .set({ blob_key: key, sha256: received.sha256 })
        .where('job_id', '=', job.id)
        .where('blob_key', 'is', null)
        .where('kept_size', '=', log.kept_size)
        .returning('job_id')
        .executeTakeFirst();
      if (!stored) return false;
      await tx.deleteFrom('job_log_pieces').where('job_id', '=', job.id).execute();
      await useBlob(tx, key);
      return true;
    });
  } finally {
    if (!isUsed) await removeUnusedBlob(services, key);
  }
}
