/** Runs what the jobs of an area would do, in the test itself: when, and how often, the test decides. */
import { sql } from 'kysely';
import pino from 'pino';
import type { AnyJob, Poll } from '../../src/jobs/index.ts';
import type { JobServices } from '../../src/services/index.ts';

const log = pino({ level: 'silent' });

/** Runs one job now. */
export const performJob = (services: JobServices, job: AnyJob, payload: object = {}): Promise<void> =>
  job.perform(payload, { ...services, log, signal: new AbortController().signal });

const isPoll = (work: AnyJob | Poll): work is Poll => 'every_ms' in work;

/**
 * Runs everything that waits for these jobs and polls, and what follows from it.
 * @returns the names of the jobs that ran, in their order
 */
export async function performQueued(services: JobServices, works: readonly (AnyJob | Poll)[]): Promise<string[]> {
  const byName = new Map(works.flatMap((work) => (isPoll(work) ? [] : [[work.name, work]])));
  const ran: string[] = [];
  for (;;) {
    for (const poll of works.filter(isPoll)) while (await poll.run({ ...services, log })) {}
    const { rows } = await sql<{ task: string; payload: object }>`
      delete from graphile_worker._private_jobs jobs using graphile_worker._private_tasks tasks
       where tasks.id = jobs.task_id and tasks.identifier = any(${[...byName.keys()]}) 
      returning tasks.identifier as task, jobs.payload`.execute(services.db);
    if (rows.length === 0) return ran;
    for (const { task, payload } of rows) {
      await performJob(services, byName.get(task)!, payload);
      ran.push(task);
    }
  }
}
