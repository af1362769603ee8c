/** Pipelines that stand still although they could go on (docs/operating.md#runners). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Whoever changes a job moves its pipeline on in the same transaction, so that one that stands still for longer is a fault. */
const still = sql`now() - interval '2 minutes'`;

const isOpen = sql<SqlBool>`pipelines.source <> 'external' and pipelines.status not in ('success', 'failed', 'canceled', 'skipped')`;

const hasJob = (which: RawBuilder<unknown>) => sql<SqlBool>`
  exists (select from commit_statuses job where job.pipeline_id = pipelines.id and not job.retried and ${which})`;

/** Nothing that its jobs wait for will happen: none of them runs, waits for a runner, a time, a person or a resource. */
const isStuck = sql<SqlBool>`not ${hasJob(sql`job.status not in ('created', 'success', 'failed', 'canceled', 'skipped')`)}`;

/** A job waits for a resource that no job has. Groups that let others go first are left out. */
const isForgotten = hasJob(sql`job.status = 'waiting_for_resource' and exists (
  select from resource_groups where resource_groups.id = job.resource_group_id and process_mode in ('unordered', 'newest_ready_first')
     and not exists (select from commit_statuses other where other.resource_group_id = resource_groups.id and other.status in ('pending', 'running', 'canceling')))`);

export interface Standing {
  id: number;
  project_id: number;
  /** The groups of resources that its jobs wait for. */
  resource_group_ids: number[];
}

/** @param limit how many are looked for */
export async function standingPipelines(db: Database, limit: number): Promise<Standing[]> {
  const { rows } = await sql<Standing>`
    select pipelines.id, pipelines.project_id,
           array(select distinct job.resource_group_id from commit_statuses job
                  where job.pipeline_id = pipelines.id and not job.retried and job.status = 'waiting_for_resource' order by 1) as resource_group_ids
      from pipelines
     where ${isOpen} and pipelines.updated_at < ${still} and (${isStuck} or ${isForgotten})
       and not ${hasJob(sql`greatest(job.created_at, job.queued_at, job.started_at, job.finished_at) > ${still}`)}
     order by pipelines.id limit ${limit}`.execute(db);
  return rows;
}

/** How much there is to do for runners, and what is wrong. */
export interface CiState {
  pending: number;
  running: number;
  /** Jobs whose runner has not been heard of for two minutes. */
  silent: number;
  /** Seconds that the job which waits for a runner longest has waited. */
  oldest_s: number;
}

export async function ciState(db: Database): Promise<CiState> {
  const { rows } = await sql<CiState>`
    select waiting.pending, waiting.oldest_s, held.running, held.silent
      from (select count(*)::integer as pending, coalesce(extract(epoch from now() - min(queued_at)), 0)::double precision as oldest_s
              from commit_statuses where kind = 'job' and status = 'pending') waiting,
           (select count(*)::integer as running, count(*) filter (where seen_at < ${still})::integer as silent
              from commit_statuses job join job_runs on job_runs.job_id = job.id and ended_at is null
             where kind = 'job' and status in ('running', 'canceling')) held`.execute(db);
  return rows[0]!;
}
