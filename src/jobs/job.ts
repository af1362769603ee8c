/** A job: background work after a commit. It is a row in PostgreSQL, added in the transaction that needs it. */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Database } from '../db/index.ts';
import type { JobServices } from '../services/index.ts';

export interface JobCall<Input> extends JobServices {
  input: Input;
  log: Logger;
  /** Aborts when the process stops and the grace period is over: the job returns to the queue. */
  signal: AbortSignal;
}

export interface Declaration<P extends TProperties> {
  input: P;
  /** The number of retries of a failed job, with growing delays. A run can be interrupted anywhere, so each run must be able to start over. */
  retries: number;
  /** A cron line in UTC. A scheduled job has no input. */
  schedule?: string;
  run(call: JobCall<Static<TObject<P>>>): Promise<void>;
}

export interface EnqueueOptions {
  /** A queued job with the same key is replaced, even one that has failed permanently; a running one is followed by this one. */
  key?: string;
  /** Seconds to wait before it runs. With a key, they count from the first queued job, so that a job that is replaced again and again still runs. */
  after_s?: number;
  /** Jobs of the same queue run one after another. */
  queue?: string;
}

/** The rules of a job that talks to a remote system, whose speed determines its own (`peerQueueOf`). */
export interface PeerRules {
  /** The maximum number of concurrent jobs of this kind per user, on all machines together. */
  per_person: number;
}

/** A job with any input, for the worker. */
export interface AnyJob {
  name: string;
  retries: number;
  schedule: string | undefined;
  /** Set for a job that talks to a remote system. */
  peer?: PeerRules;
  perform(payload: unknown, call: Omit<JobCall<unknown>, 'input'>): Promise<void>;
}

export interface Job<Input> extends AnyJob {
  /**
   * Adds the job to the queue. Workers see it when the transaction commits.
   * @param tx the transaction that needs the job
   */
  enqueue(tx: Database, input: Input, options?: EnqueueOptions): Promise<void>;
  /**
   * The same for several inputs, in one statement.
   * @param tx the transaction that needs the jobs
   */
  enqueueEach(tx: Database, inputs: readonly Input[]): Promise<void>;
}

/** A job, for the code that enqueues it. */
export interface Queue<P extends TProperties> extends Pick<Job<Static<TObject<P>>>, 'enqueue' | 'enqueueEach'> {
  /** A job, for the code that runs it. */
  runBy(run: Declaration<P>['run'], schedule?: string): Job<Static<TObject<P>>>;
}

/**
 * Declares a job.
 * @param name never changes, because rows in the queue contain it
 * @throws Error for a schedule on a job that needs input
 */
export const job = <P extends TProperties>(
  name: string,
  { schedule, run, ...declaration }: Declaration<P>,
): Job<Static<TObject<P>>> => queueOf(name, declaration).runBy(run, schedule);

/**
 * Declares how to enqueue a job that a higher area runs, which this one must not import.
 * @param name never changes, because rows in the queue contain it
 */
export function queueOf<P extends TProperties>(
  name: string,
  { input, retries }: Pick<Declaration<P>, 'input' | 'retries'>,
): Queue<P> {
  const names = Object.keys(input);
  const validator = Compile(Type.Object(input));
  const queue: Pick<Queue<P>, 'enqueue' | 'enqueueEach'> = {
    enqueue: async (tx, values, { key, after_s, queue: name_of_queue } = {}) => {
      const payload = sql`${JSON.stringify(values)}::json`;
      const job_key = sql`${key === undefined ? null : `${name}:${key}`}::text`;
      const run_at = sql`now() + make_interval(secs => ${after_s ?? 0})`;
      const mode = after_s === undefined ? 'replace' : 'preserve_run_at';
      // A waiting job is not replaced by an identical one, which would wake the workers and block others who enqueue it. Its row is locked, so it cannot start
      // before this commit. The queue would leave a permanently failed job beside its replacement. The function sees that the failed job is gone, because the
      // condition is checked before the call.
      await sql`
        with failed as (
          delete from graphile_worker._private_jobs where key = ${job_key} and locked_at is null and attempts >= max_attempts returning id
        ), waiting as materialized (
          select from graphile_worker._private_jobs
           where key = ${job_key} and locked_at is null and attempts = 0 and run_at > now() and run_at <= ${run_at} and payload::jsonb = ${payload}::jsonb
             for key share)
        select graphile_worker.add_job(${name}, payload => ${payload}, max_attempts => ${retries + 1}::int, job_key => ${job_key}, run_at => ${run_at},
                                       queue_name => ${name_of_queue ?? null}::text, job_key_mode => ${mode}::text)
         where (select count(*) from failed) >= 0 and not exists (select from waiting)`.execute(tx);
    },
    enqueueEach: async (tx, inputs) => {
      if (inputs.length === 0) return;
      await sql`select graphile_worker.add_job(${name}, payload => input, max_attempts => ${retries + 1}::int)
        from json_array_elements(${JSON.stringify(inputs)}::json) input`.execute(tx);
    },
  };
  return {
    ...queue,
    runBy(run, schedule) {
      if (schedule !== undefined && names.length > 0)
        throw new Error(`The job ${name} has a schedule and therefore cannot have input.`);
      const perform: AnyJob['perform'] = async (payload, call) => {
        // Only declared members, because the scheduler adds its own.
        const given = Object.entries(payload ?? {}).filter(([member]) => names.includes(member));
        const values: unknown = Object.fromEntries(given);
        if (!validator.Check(values)) throw new Error(`The input of the job ${name} does not match its declaration.`);
        await run({ ...call, input: values });
      };
      return { name, retries, schedule, perform, ...queue };
    },
  };
}
