/** Queries for bridges and the trees of pipelines. */
import { sql } from 'kysely';
import type { Bridge, CiVariable } from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import type { State } from '../../code/pipelines/index.ts';
import type { Taken } from '../jobs/taking_queries.ts';
import type { Ancestor } from './rules.ts';

/** A bridge that is to start something. */
export interface ReadyBridge extends Taken {
  /** Its part of the configuration. */
  bridge: Bridge;
  given: readonly CiVariable[];
  /** Of its pipeline. */
  upstream: {
    id: number;
    source: string;
    sha: string;
    ref: string;
    tag: boolean;
    before_sha: string | null;
    is_protected: boolean;
    merge_request_id: number | null;
    tree_id: number | null;
    predefined: Readonly<Record<string, string>>;
  };
}

/** Undefined unless the bridge waits to be started. */
export async function readyBridge(db: Database, id: number): Promise<ReadyBridge | undefined> {
  const { rows } = await sql<Omit<ReadyBridge, 'bridge' | 'given'>>`
    select job.id, job.name, job.pipeline_id, job.project_id, job.user_id, definition, 0 as timeout_s, 0 as queued_s, false as begins,
           json_build_object('id', pipelines.id, 'source', source, 'sha', pipelines.sha, 'ref', pipelines.ref, 'tag', tag, 'before_sha', before_sha,
                             'is_protected', is_protected, 'merge_request_id', merge_request_id, 'tree_id', tree_id, 'predefined', predefined) as upstream
      from commit_statuses job join job_definitions on job_definitions.job_id = job.id join pipelines on pipelines.id = job.pipeline_id
     where job.id = ${id} and job.kind = 'bridge' and job.status = 'pending' and not job.retried`.execute(db);
  const row = rows[0];
  return row && { ...row, bridge: row.definition.job as Bridge, given: row.definition.variables };
}

/** A pipeline and those that it follows from, itself first. */
export async function ancestorsOf(db: Database, id: number): Promise<Ancestor[]> {
  const { rows } = await sql<Ancestor>`
    with recursive above(id, project_id, ref, source, distance) as (
      select id, project_id, ref, source, 0 from pipelines where id = ${id}
      union all
      select upper.id, upper.project_id, upper.ref, upper.source, distance + 1
        from above join bridges on bridges.pipeline_id = above.id and has_started
             join commit_statuses job on job.id = bridges.job_id join pipelines upper on upper.id = job.pipeline_id
    ) select id, project_id, ref, source from above order by distance`.execute(db);
  return rows;
}

/** How many pipelines follow from one. */
export async function sizeOfTree(db: Database, tree_id: number): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select count(*)::integer + 1 as size from pipelines where tree_id = ${tree_id}`.execute(db);
  return rows[0]!.size;
}

/** A bridge, and the pipeline that it waits for. */
export interface WaitingBridge {
  status: State;
  allow_failure: boolean;
  /** Null when it is gone. */
  pipeline: State | null;
}

/** Undefined unless the bridge takes the status of a pipeline. */
export async function waitingBridge(db: Database, id: number): Promise<WaitingBridge | undefined> {
  const { rows } = await sql<WaitingBridge>`
    select job.status, job.allow_failure, pipelines.status as pipeline
      from commit_statuses job join bridges on bridges.job_id = job.id left join pipelines on pipelines.id = bridges.pipeline_id
     where job.id = ${id} and waits and not job.retried`.execute(db);
  return rows[0];
}

/** The newest pipeline of a branch that is no child; undefined if there is none. */
export async function newestOf(
  db: Database,
  { project_id, ref }: { project_id: number; ref: string },
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from pipelines
     where project_id = ${project_id} and ref = ${ref} and not tag and source <> 'parent_pipeline' order by id desc limit 1`.execute(
    db,
  );
  return rows[0]?.id;
}

/** A bridge that stands still. */
export interface StandingBridge {
  job_id: number;
  pipeline_id: number;
  project_id: number;
  is_ready: boolean;
}

/** Bridges that nothing has moved for minutes: the work for them is lost, or the project of the pipeline that they wait for was deleted. */
export async function standingBridges(db: Database, limit: number): Promise<StandingBridge[]> {
  const { rows } = await sql<StandingBridge>`
    select job.id as job_id, job.pipeline_id, job.project_id, job.status = 'pending' as is_ready
      from commit_statuses job left join bridges on bridges.job_id = job.id left join pipelines on pipelines.id = bridges.pipeline_id
     where job.kind = 'bridge' and (
             job.status = 'pending' and job.queued_at < now() - interval '10 minutes'
             or job.status = 'running' and (pipelines.id is null
                or pipelines.status in ('success', 'failed', 'canceled', 'skipped') and pipelines.updated_at < now() - interval '2 minutes'))
     order by job.id limit ${limit}`.execute(db);
  return rows;
}
