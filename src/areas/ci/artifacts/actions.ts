/** Keeping and deleting the files of jobs. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import { notFound, type Services } from '../../../http/index.ts';
import { removeReportsOf } from '../../code/dependencies/index.ts';
import { removeUnusedBlob } from '../../instance/blobs/index.ts';
import { isLatest, isThere } from './queries.ts';

/**
 * Keeps the files of a job without an end.
 * @throws ApiError 404 if there are none
 */
export async function keepArtifacts(db: Database, project_id: number, job_id: number): Promise<void> {
  const kept = await db
    .updateTable('job_artifacts')
    .set({ expire_at: null, look_at: null })
    .where('project_id', '=', project_id)
    .where('job_id', '=', job_id)
    .where(isThere)
    .returning('id')
    .execute();
  if (kept.length === 0) throw notFound();
}

/**
 * Deletes what jobs left: their files, the results of their tests, their variables for later jobs, and what their bills of materials list.
 * @param tx the transaction that erases the jobs
 */
export async function eraseArtifacts(tx: Database, job_ids: readonly number[]): Promise<void> {
  await tx
    .deleteFrom('job_artifacts')
    .where(isAmong('job_id', job_ids, 'bigint[]'))
    .execute();
  await tx
    .deleteFrom('job_dotenv_variables')
    .where(isAmong('job_id', job_ids, 'bigint[]'))
    .execute();
  await removeReportsOf(tx, job_ids);
}

/** The most files that one transaction deletes. */
const batch = 500;

interface Removed {
  /** How many rows were looked at. */
  seen: number;
  /** The last one of them; null if there were none. */
  last: number | null;
  keys: string[];
}

/**
 * Looks at some files, and deletes those that are not kept as the latest of their branch.
 * @param which the ids of at most `batch` files
 * @param others what becomes of the files that stay
 */
async function removeSome(db: Database, which: RawBuilder<unknown>, others: RawBuilder<unknown>): Promise<Removed> {
  const { rows } = await sql<Removed>`
    with looked as materialized (${which}),
    latest as materialized (
      select looked.id from looked
        join job_artifacts on job_artifacts.id = looked.id
        join commit_statuses on commit_statuses.id = job_artifacts.job_id
        join pipelines on pipelines.id = commit_statuses.pipeline_id
       where ${isLatest}
    ),
    staying as (${others}),
    removed as (delete from job_artifacts where id in (select id from looked except select id from latest) returning blob_key)
    select (select count(*)::integer from looked) as seen, (select max(id) from looked) as last,
           array(select blob_key from removed) as keys`.execute(db);
  return rows[0]!;
}

async function removeBlobs(services: Pick<Services, 'db' | 'blobs'>, keys: readonly string[]): Promise<void> {
  for (const key of keys) await removeUnusedBlob(services, key);
}

/** How long a file that is kept as the latest is not looked at again. */
const kept_for = sql`interval '1 hour'`;

/**
 * Deletes files whose end has come.
 * @returns whether there may be more
 */
export async function removeDueArtifacts(services: Pick<Services, 'db' | 'blobs'>): Promise<boolean> {
  const { seen, keys } = await removeSome(
    services.db,
    sql`select id from job_artifacts where look_at <= now() order by look_at limit ${sql.lit(batch)} for update skip locked`,
    sql`update job_artifacts set look_at = now() + ${kept_for} where id in (select id from latest)`,
  );
  await removeBlobs(services, keys);
  return seen === batch;
}

const hasEnded: RawBuilder<SqlBool> = sql`
  exists (select from commit_statuses join pipelines on pipelines.id = commit_statuses.pipeline_id
           where commit_statuses.id = job_artifacts.job_id and pipelines.finished_at is not null)`;

/**
 * Deletes files of a project whose pipelines have ended, except for those that are kept as the latest.
 * @param after the id of the last file that was looked at
 * @returns the id to go on with; null at the end
 */
export async function removeArtifactsOf(
  services: Pick<Services, 'db' | 'blobs'>,
  project_id: number,
  after: number,
): Promise<number | null> {
  const { last, keys } = await removeSome(
    services.db,
    sql`select id from job_artifacts where project_id = ${project_id} and id > ${after} and ${hasEnded} order by id limit ${sql.lit(batch)} for update`,
    sql`select`,
  );
  await removeBlobs(services, keys);
  return last;
}
