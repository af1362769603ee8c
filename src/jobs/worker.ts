/** Runs jobs in this process. */
import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type JobHelpers,
  parseCronItems,
  Logger as QueueLogger,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { hasLostDatabase } from '../db/index.ts';
import type { JobServices } from '../services/index.ts';
import { giveBack, showPresence } from './alive.ts';
import type { Runs } from './figures.ts';
import type { AnyJob } from './job.ts';
import { type Poll, startPolling } from './poll.ts';
import { queuePool } from './queue_pool.ts';

export interface WorkerOptions {
  connectionString: string;
  jobs: readonly AnyJob[];
  /** None by default. */
  polls?: readonly Poll[];
  services: JobServices;
  log: Logger;
  /** The number of concurrent jobs. Jobs with a peer have places of their own. */
  concurrency: number;
}

/** The number of concurrent jobs with a peer: they wait for remote systems, and take little processor time. */
const peerPlaces = 8;

export interface Worker {
  /**
   * Stops taking jobs and waits for running ones. Unfinished jobs then return to the queue, and their attempt does not count.
   * @param patience_ms how long to wait
   */
  stop(patience_ms: number): Promise<void>;
}

/** Running jobs by id. The ones left after a stop were interrupted. */
type Running = Map<string, Promise<void>>;

/** The time for an aborted job to end before another process may run it. */
const abort_ms = 1000;

/**
 * Starts running jobs.
 * @throws Error when two jobs have the same name or a schedule is not a cron line
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { jobs, polls = [], services, log } = options;
  if (new Set(jobs.map((job) => job.name)).size < jobs.length) throw new Error('Two jobs have the same name.');
  const own = jobs.filter((job) => job.peer === undefined);
  const peers = jobs.filter((job) => job.peer !== undefined);
  const polling = startPolling(polls, { ...services, log });
  const pool = queuePool(options.connectionString);
  const runners: Worker[] = [];
  // The queue cannot run without tasks.
  if (own.length > 0) runners.push(await startRunner({ ...options, jobs: own }, pool));
  if (peers.length > 0) runners.push(await startRunner({ ...options, jobs: peers, concurrency: peerPlaces }, pool));
  return {
    stop: async (patience_ms) => {
      const polled = Promise.race([polling.stop(), sleep(patience_ms, undefined, { ref: false })]);
      await Promise.all(runners.map((runner) => runner.stop(patience_ms)));
      await Promise.race([pool.end(), sleep(abort_ms, undefined, { ref: false })]);
      await polled;
    },
  };
}

async function startRunner(
  { connectionString, jobs, services, log, concurrency }: Omit<WorkerOptions, 'polls'>,
  pool: Pool,
): Promise<Worker> {
  const abort = new AbortController();
  const running: Running = new Map();
  const events: WorkerEvents = new EventEmitter();
  let name = '';
  events.on('pool:create', ({ workerPool }) => {
    name = workerPool.id;
  });
  askAgain(events);
  const askers = countAskers(events);
  const ended = countRuns(events);
  const runner = await run({
    pgPool: pool,
    events,
    concurrency,
    noHandleSignals: true,
    logger: queueLogger(log),
    taskList: tasksOf(jobs, services, log, abort.signal, running),
    parsedCronItems: schedulesOf(jobs),
  });
  runner.promise.catch((error) => log.error({ err: error }, 'the worker ended'));
  const presence = await showPresence({
    connectionString,
    worker: name,
    facts: { hostname: hostname(), pid: process.pid, concurrency, jobs: jobs.map((job) => job.name) },
    takeRuns: ended.take,
    returnRuns: ended.add,
    running: () => [...running.keys()],
    onError: (error) => log.warn({ err: error }, 'cannot look for abandoned jobs'),
  });
  const stop = async (patience_ms: number) => {
    await stopRunner(runner, patience_ms, abort, running, askers);
    await giveBack(pool, name, [...running.keys()]);
    await presence.end();
  };
  return { stop };
}

function tasksOf(
  jobs: readonly AnyJob[],
  services: JobServices,
  log: Logger,
  signal: AbortSignal,
  running: Running,
): TaskList {
  const task =
    (job: AnyJob) =>
    async (payload: unknown, { job: row, query }: JobHelpers) => {
      // A job that was requested before the stop and arrives after it is not started.
      const performed = signal.aborted
        ? Promise.reject(signal.reason)
        : job.perform(payload, { ...services, log: log.child({ job: job.name }), signal });
      running.set(row.id, performed);
      try {
        await performed;
        if (job.schedule !== undefined) await forgetFailures(query, job.name);
      } catch (error) {
        // An interrupted job has not failed. It stays locked until it is returned.
        if (signal.aborted) await new Promise<never>(() => {});
        if (row.key === null || !(await isReplaced(query, row.id))) throw error;
        log.warn({ job: job.name, err: error }, 'a job failed, and another one runs in its place');
      } finally {
        running.delete(row.id);
      }
    };
  return Object.fromEntries(jobs.map((job) => [job.name, task(job)]));
}

/**
 * Whether another job has been enqueued with the key of a running one: the queue then moves the key and the remaining attempts to the new job. Waits for a
 * transaction that is just doing so.
 */
async function isReplaced(query: JobHelpers['query'], id: string): Promise<boolean> {
  const { rows } = await query('select from graphile_worker._private_jobs where id = $1 and key is null for update', [
    id,
  ]);
  return rows.length > 0;
}

/** Deletes permanently failed runs of a scheduled job: a later run has done their work. The queue keeps them beside the runs that replace them. */
const forgetFailures = (query: JobHelpers['query'], name: string) =>
  query(
    `delete from graphile_worker._private_jobs using graphile_worker._private_tasks tasks
      where tasks.id = task_id and tasks.identifier = $1 and locked_at is null and attempts >= max_attempts`,
    [name],
  );

/** The key keeps scheduled runs from piling up while no worker is available. */
const schedulesOf = (jobs: readonly AnyJob[]) =>
  parseCronItems(
    jobs.flatMap(({ name, schedule, retries }) =>
      schedule === undefined
        ? []
        : [{ task: name, identifier: name, match: schedule, options: { maxAttempts: retries + 1, jobKey: name } }],
    ),
  );

/** The typical duration of the statement that records the end of a job. */
const recording_ms = 20;

/**
 * Makes a worker request the next job of a queue once its last job is recorded as ended. The worker that ran the job sends its request while it records the end, may
 * still find the queue locked, and would then not retry for two seconds.
 */
function askAgain(events: WorkerEvents): void {
  // The queue releases its workers only when all of them stop, and throws when a released one is asked for a job.
  let isStopping = false;
  events.on('worker:release', () => {
    isStopping = true;
  });
  events.on('job:complete', ({ worker: { workerPool }, job }) => {
    if (job.job_queue_id === null) return;
    setTimeout(() => {
      if (!isStopping) workerPool.nudge(1);
    }, recording_ms).unref();
  });
}

interface EndedRuns {
  take(): Runs;
  add(runs: Runs): void;
}

/** Counts ended runs of jobs. */
function countRuns(events: WorkerEvents): EndedRuns {
  let count: Runs = { processed: 0, failed: 0 };
  const add = ({ processed, failed }: Runs) => {
    count = { processed: count.processed + processed, failed: count.failed + failed };
  };
  events.on('job:complete', ({ error }) => add({ processed: 1, failed: error ? 1 : 0 }));
  const take = () => {
    const taken = count;
    count = { processed: 0, failed: 0 };
    return taken;
  };
  return { take, add };
}

interface Askers {
  /** Resolves when none of the queue's workers waits for its next job. */
  answered(): Promise<void>;
}

/** Counts the queue's workers that have requested a job: a stop does not cancel the request, and the job that it returns is locked. */
function countAskers(events: WorkerEvents): Askers {
  let count = 0;
  let last = Promise.withResolvers<void>();
  last.resolve();
  events.on('worker:getJob:start', () => {
    if (count++ === 0) last = Promise.withResolvers();
  });
  for (const answer of ['job:start', 'worker:getJob:empty', 'worker:getJob:error'] as const)
    events.on(answer, () => {
      if (--count === 0) last.resolve();
    });
  return { answered: () => last.promise };
}

async function stopRunner(
  runner: Runner,
  patience_ms: number,
  abort: AbortController,
  running: Running,
  askers: Askers,
): Promise<void> {
  const stopped = runner.stop().then(
    () => true,
    () => true, // it has already ended
  );
  if (await Promise.race([stopped, sleep(patience_ms, false, { ref: false })])) return;
  abort.abort();
  const settled = Promise.all([Promise.allSettled(running.values()), askers.answered()]);
  await Promise.race([settled, sleep(abort_ms, undefined, { ref: false })]);
}

/** Retried while the database is unavailable, which is logged once, with the requests. */
const isOfOutage = (message: string, error: unknown) =>
  /^(Error with notify listener|Error occurred attempting to UNLISTEN)/.test(message) ||
  (message.startsWith('Cron hit an error') && hasLostDatabase(error));

/** The queue logs every job; only problems are logged above the debug level. */
function queueLogger(log: Logger): QueueLogger {
  const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const;
  return new QueueLogger(
    (scope) => (level, message, meta) =>
      log[isOfOutage(message, meta?.error) ? 'debug' : levels[level]](
        { ...scope, ...(meta?.error ? { err: meta.error } : {}) },
        message,
      ),
  );
}
