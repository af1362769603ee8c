/** Erasing what jobs have left behind (docs/reference/job_logs.md#erasing). */
import { sql } from 'kysely';
import { repeated } from '../../../db/index.ts';
import { forbidden, type Services } from '../../../http/index.ts';
import { isFinal } from '../../code/pipelines/index.ts';
import { removeUnusedBlob } from '../../instance/blobs/index.ts';
import { eraseArtifacts } from '../artifacts/actions.ts';
import { type JobOf, lockPipeline } from '../running/queries.ts';

export const notErasableText = 'Job is not erasable!';

/**
 * Erases the log and the files of a job that has ended.
 * @throws ApiError 403
 */
export async function eraseJob(
  services: Pick<Services, 'db' | 'blobs'>,
  project_id: number,
  job: JobOf,
): Promise<void> {
  const blob_key = await repeated(services.db, async (tx) => {
    await lockPipeline(tx, project_id, job.pipeline_id);
    const query = tx.selectFrom('commit_statuses').select(['status', 'erased_at']).where('id', '=', job.id);
    const { status, erased_at } = await query.executeTakeFirstOrThrow();
    if (erased_at !== null || !isFinal(status as JobOf['status'])) throw forbidden(notErasableText);
    const { rows } = await sql<{ blob_key: string | null }>`
      with erased as (update commit_statuses set erased_at = now() where id = ${job.id})
      delete from job_logs where job_id = ${job.id} returning blob_key`.execute(tx);
    await eraseArtifacts(tx, [job.id]);
    return rows[0]?.blob_key ?? undefined;
  });
  if (blob_key !== undefined) await removeUnusedBlob(services, blob_key);
}
