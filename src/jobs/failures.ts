/** Jobs that have failed, with their reasons, for administrators. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';

export interface FailedJob {
  id: number;
  name: string;
  attempts: number;
  max_attempts: number;
  /** When it is tried again; for a dead job, when it was last due. */
  run_at: string;
  created_at: string;
  last_error: string;
  /** Whether it is not tried again. */
  dead: boolean;
}

/** Jobs whose last run has failed: dead ones first, then those that are tried again soonest. */
export const failedJobs = (db: Database) =>
  db
    .selectFrom(
      sql<FailedJob>`(
        select jobs.id::bigint, tasks.identifier as name, jobs.attempts::int, jobs.max_attempts::int, jobs.run_at, jobs.created_at, jobs.last_error,
               jobs.attempts >= jobs.max_attempts as dead
          from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
         where jobs.last_error is not null)`.as('failed'),
    )
    .selectAll()
    .orderBy('dead', 'desc')
    .orderBy('run_at')
    .orderBy('id');

/** Lets a job that nobody runs be tried at once. @returns whether there is one */
export async function retryJob(db: Database, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from graphile_worker.reschedule_jobs(array[${id}::bigint], run_at := now(), attempts := 0)`.execute(db);
  return rows.length > 0;
}

/** Removes a job that nobody runs. @returns whether there was one */
export async function dropJob(db: Database, id: number): Promise<boolean> {
  const { rows } = await sql`select from graphile_worker.complete_jobs(array[${id}::bigint])`.execute(db);
  return rows.length > 0;
}
