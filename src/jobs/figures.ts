/** Statistics of the job queue: waiting jobs, workers, and the outcomes of runs. */
import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../db/index.ts';

/** The first half of the key of the advisory lock that each worker holds; the second half is the hash of its name. */
export const lockClass = 726_673;

/**
 * A predicate in SQL: the worker is alive.
 * @param name the column with its name
 */
export const isAlive = (name: string): string => `exists (select from pg_locks
    where locktype = 'advisory' and classid = ${lockClass} and objid = (hashtext(${name})::bigint & 4294967295)::oid and objsubid = 2
      and database = (select oid from pg_database where datname = current_database()))`;

/** The record of a worker. */
export interface WorkerFacts {
  hostname: string;
  pid: number;
  concurrency: number;
  /** The names of the jobs that it runs. */
  jobs: readonly string[];
}

/** Registers the worker, and removes the records of dead workers. */
export async function introduce(client: pg.ClientBase, name: string, facts: WorkerFacts): Promise<void> {
  await client.query(`delete from job_workers where not ${isAlive('name')}`);
  await client.query(
    `insert into job_workers (name, hostname, pid, concurrency, jobs) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [name, facts.hostname, facts.pid, facts.concurrency, facts.jobs],
  );
}

/** Ended runs of jobs. */
export interface Runs {
  /** Including failed ones. */
  processed: number;
  failed: number;
}

/** Adds runs to the totals of all workers. */
export async function addRuns(client: pg.ClientBase, { processed, failed }: Runs): Promise<void> {
  if (processed === 0) return;
  await client.query(
    `insert into job_totals as totals (processed, failed) values ($1, $2)
       on conflict (id) do update set processed = totals.processed + excluded.processed, failed = totals.failed + excluded.failed`,
    [processed, failed],
  );
}

interface QueueFigures {
  name: string;
  /** Jobs that are ready to run. */
  backlog: number;
  /** How long the oldest of them has waited, in seconds. */
  latency: number;
}

/** Waiting jobs, by the names of jobs. */
export async function queueFigures(db: Database): Promise<QueueFigures[]> {
  const { rows } = await sql<QueueFigures>`
    select tasks.identifier as name, count(jobs.id)::int as backlog,
           coalesce(floor(extract(epoch from now() - min(jobs.run_at))), 0)::integer as latency
      from graphile_worker._private_tasks tasks
      left join graphile_worker._private_jobs jobs
        on jobs.task_id = tasks.id and jobs.locked_at is null and jobs.attempts < jobs.max_attempts and jobs.run_at <= now()
     group by tasks.id order by tasks.identifier`.execute(db);
  return rows;
}

interface WorkerFigures extends WorkerFacts {
  started_at: string;
  /** The number of jobs that it is running. */
  busy: number;
}

/** The workers that are alive, in the order of their start. */
export async function workerFigures(db: Database): Promise<WorkerFigures[]> {
  const { rows } = await sql<WorkerFigures>`
    select hostname, pid, started_at, concurrency, jobs,
           (select count(*) from graphile_worker._private_jobs where locked_by = job_workers.name)::int as busy
      from job_workers where ${sql.raw(isAlive('job_workers.name'))} order by started_at, name`.execute(db);
  return rows;
}

interface JobFigures extends Runs {
  enqueued: number;
  /** Jobs that have failed permanently. */
  dead: number;
}

/** The numbers of finished and waiting jobs. */
export async function jobFigures(db: Database): Promise<JobFigures> {
  const { rows } = await sql<JobFigures>`
    select coalesce(max(totals.processed), 0) as processed, coalesce(max(totals.failed), 0) as failed,
           count(*) filter (where jobs.attempts < jobs.max_attempts and jobs.run_at <= now())::int as enqueued,
           count(*) filter (where jobs.attempts >= jobs.max_attempts)::int as dead
      from (select) always left join job_totals totals on true
      left join graphile_worker._private_jobs jobs on jobs.locked_at is null`.execute(db);
  return rows[0]!;
}
