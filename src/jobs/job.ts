/** A job: work that follows a commit. It is a row in PostgreSQL, written in the transaction that needs it. */
import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Blobs } from '../blobs/index.ts';
import type { Database } from '../db/index.ts';
import type { Mailer } from '../mail/index.ts';
import type { Secrets } from '../secrets/index.ts';

/** What every job works with besides its input. */
export interface JobServices {
  db: Database;
  /** The external address without a trailing slash. */
  url: string;
  /** Git storages by name: absolute folders. */
  storages: Readonly<Record<string, string>>;
  /** Large files that are not in a repository. */
  blobs: Blobs;
  secrets: Secrets;
  /** Whoever has signed a licence with one of them is trusted. */
  licenseKeys: readonly KeyObject[];
  mailer: Mailer;
}

export interface JobCall<Input> extends JobServices {
  input: Input;
  log: Logger;
  /** Aborted when the process stops and has waited long enough: the job goes back to the queue. */
  signal: AbortSignal;
}

interface Declaration<P extends TProperties> {
  input: P;
  /** How often it is tried again after a failure, ever later. A run may be cut off anywhere, so each must be able to start over. */
  retries: number;
  /** A cron line in UTC. Such a job takes no input. */
  schedule?: string;
  run(call: JobCall<Static<TObject<P>>>): Promise<void>;
}

export interface EnqueueOptions {
  /** While a job with the same key waits, it is replaced; one that runs already is followed by this one. */
  key?: string;
}

/** What the worker needs of a job, whatever its input. */
export interface AnyJob {
  name: string;
  retries: number;
  schedule: string | undefined;
  perform(payload: unknown, call: Omit<JobCall<unknown>, 'input'>): Promise<void>;
}

export interface Job<Input> extends AnyJob {
  /**
   * Adds the job to the queue; it is seen when the transaction commits.
   * @param tx the transaction that needs the job
   */
  enqueue(tx: Database, input: Input, options?: EnqueueOptions): Promise<void>;
  /**
   * The same for several, in one statement.
   * @param tx the transaction that needs the jobs
   */
  enqueueEach(tx: Database, inputs: readonly Input[]): Promise<void>;
}

/**
 * Declares a job.
 * @param name stays the same for ever: rows in the queue bear it
 * @throws Error for a schedule on a job that needs input
 */
export function job<P extends TProperties>(
  name: string,
  { input, retries, schedule, run }: Declaration<P>,
): Job<Static<TObject<P>>> {
  const names = Object.keys(input);
  if (schedule !== undefined && names.length > 0)
    throw new Error(`The job ${name} has a schedule, so nobody gives it its input.`);
  const validator = Compile(Type.Object(input));
  return {
    name,
    retries,
    schedule,
    enqueue: async (tx, values, { key } = {}) => {
      await sql`select graphile_worker.add_job(${name}, payload => ${JSON.stringify(values)}::json, max_attempts => ${retries + 1}::int,
        job_key => ${key === undefined ? null : `${name}:${key}`}::text)`.execute(tx);
    },
    enqueueEach: async (tx, inputs) => {
      if (inputs.length === 0) return;
      await sql`select graphile_worker.add_job(${name}, payload => input, max_attempts => ${retries + 1}::int)
        from json_array_elements(${JSON.stringify(inputs)}::json) input`.execute(tx);
    },
    perform: async (payload, call) => {
      // Only what is declared: the scheduler adds members of its own.
      const given = Object.entries(payload ?? {}).filter(([member]) => names.includes(member));
      const values: unknown = Object.fromEntries(given);
      if (!validator.Check(values)) throw new Error(`The input of the job ${name} does not fit its declaration.`);
      await run({ ...call, input: values });
    },
  };
}
