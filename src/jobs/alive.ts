/** Detects dead workers, so that their jobs are retried soon instead of after hours. */
import type pg from 'pg';
import { HostClient } from '../db/index.ts';
import { addRuns, introduce, isAlive, lockClass, type Runs, type WorkerFacts } from './figures.ts';

const sweep_ms = 10_000;

export interface Presence {
  end(): Promise<void>;
}

interface PresenceOptions {
  connectionString: string;
  /** Its name in the rows of its jobs. */
  worker: string;
  facts: WorkerFacts;
  /** The runs that have ended since the last call. */
  takeRuns(): Runs;
  /** Called with runs that could not be recorded. */
  returnRuns(runs: Runs): void;
  /** The ids of its running jobs. */
  running(): string[];
  /** Called when a query failed; it is repeated later. */
  onError(error: unknown): void;
}

/** Signals that the worker is alive, and periodically looks for locked jobs whose worker has died. */
export async function showPresence(options: PresenceOptions): Promise<Presence> {
  const { connectionString, worker, facts, takeRuns, returnRuns, running, onError } = options;
  let client: pg.Client | undefined;
  let isEnded = false;
  let strays: string[] = [];

  const connect = async () => {
    const fresh = new HostClient({ connectionString, application_name: 'coppice worker' });
    fresh.on('error', () => {}); // `end` follows
    fresh.once('end', () => {
      if (client === fresh) client = undefined;
    });
    await fresh.connect();
    await fresh.query('select pg_advisory_lock($1, hashtext($2))', [lockClass, worker]);
    await introduce(fresh, worker, facts);
    client = fresh;
    return fresh;
  };
  const record = async (asked: pg.Client) => {
    const runs = takeRuns();
    await addRuns(asked, runs).catch((error) => {
      returnRuns(runs);
      throw error;
    });
  };
  const sweep = async () => {
    if (isEnded) return;
    const asked = client ?? (await connect());
    await record(asked);
    await releaseJobsOfTheDead(asked);
    await freeQueues(asked, worker);
    const found = await straysOf(asked, worker, running());
    // A job that has just ended also looks lost, until the queue has recorded its end.
    await giveBack(
      asked,
      worker,
      found.filter((id) => strays.includes(id)),
    );
    strays = found;
  };
  await sweep();
  const timer = setInterval(() => {
    sweep().catch((error) => {
      if (!isEnded) onError(error);
    });
  }, sweep_ms);
  return {
    end: async () => {
      isEnded = true;
      clearInterval(timer);
      if (client) await record(client).catch(() => {});
      await client?.end().catch(() => {});
    },
  };
}

/** A predicate on jobs: the worker that locked it has died. A worker signals shortly after it gets its name, so recently locked jobs are excluded. */
const isOfTheDead = `locked_at < now() - interval '10 seconds' and not ${isAlive('locked_by')}`;

/**
 * A job on its last attempt gets one more, because it has not failed. The queue also uses up the attempts of a running job that is replaced by one with the
 * same key; it would stay forever as failed, and running it again does no harm.
 */
async function releaseJobsOfTheDead(client: pg.Client): Promise<void> {
  await client.query(
    `update graphile_worker._private_jobs set attempts = max_attempts - 1, last_error = 'The process that ran it has ended.'
     where attempts >= max_attempts and last_error is null and ${isOfTheDead}`,
  );
  // The notification of a new job. Without it, the queue would find these jobs only when it polls, every two seconds.
  await client.query(
    `with dead as (select array_agg(distinct locked_by) as workers, count(*) as jobs from graphile_worker._private_jobs where ${isOfTheDead})
     select graphile_worker.force_unlock_workers(workers), pg_notify('jobs:insert', json_build_object('count', jobs)::text)
       from dead where jobs > 0`,
  );
}

/** Frees named queues that the worker has locked and of which it has no job: after the database has crashed, nothing else would free them for hours. */
async function freeQueues(client: pg.Client, worker: string): Promise<void> {
  await client.query(
    `update graphile_worker._private_job_queues queue set locked_at = null, locked_by = null
      where locked_by = $1 and locked_at < now() - interval '10 seconds'
        and not exists (select from graphile_worker._private_jobs job where job.job_queue_id = queue.id and job.locked_by = $1)`,
    [worker],
  );
}

/** Jobs that the worker has locked without knowing: the connection broke before it received them. */
async function straysOf(client: pg.Client, worker: string, running: string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select id from graphile_worker._private_jobs where locked_by = $1 and id <> all($2::bigint[])',
    [worker, running],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns jobs, and the named queues that they held, without counting the interrupted attempt.
 * @param ids only these: other locked jobs may have ended already, since the queue records that later
 */
export async function giveBack(client: Pick<pg.ClientBase, 'query'>, worker: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await client.query(
    `with returned as (
       update graphile_worker._private_jobs set locked_at = null, locked_by = null, attempts = greatest(0, attempts - 1)
        where locked_by = $1 and id = any($2::bigint[]) returning job_queue_id
     )
     update graphile_worker._private_job_queues set locked_at = null, locked_by = null
      where locked_by = $1 and id in (select job_queue_id from returned)`,
    [worker, ids],
  );
}
