/** Who of the workers is alive, so that the jobs of one that was killed are run again soon and not after hours. */
import pg from 'pg';

/** The first half of the advisory lock that a worker holds while it lives; the second half is the hash of its name. */
const lockClass = 726_673;
const sweep_ms = 10_000;

export interface Presence {
  end(): Promise<void>;
}

/**
 * Shows that the worker is alive, and looks now and then for jobs whose worker is not.
 * @param worker the name that stands in the rows of its jobs
 * @param onError told when the database could not be asked; it is asked again later
 */
export async function showPresence(
  connectionString: string,
  worker: string,
  onError: (error: unknown) => void,
): Promise<Presence> {
  let client: pg.Client | undefined;
  let isEnded = false;

  const connect = async () => {
    const fresh = new pg.Client({ connectionString, application_name: 'coppice worker' });
    fresh.on('error', () => {}); // followed by `end`
    fresh.once('end', () => {
      if (client === fresh) client = undefined;
    });
    await fresh.connect();
    await fresh.query('select pg_advisory_lock($1, hashtext($2))', [lockClass, worker]);
    client = fresh;
    return fresh;
  };
  const sweep = async () => {
    if (!isEnded) await releaseJobsOfTheDead(client ?? (await connect()));
  };
  await sweep();
  const timer = setInterval(() => void sweep().catch(onError), sweep_ms);
  return {
    end: async () => {
      isEnded = true;
      clearInterval(timer);
      await client?.end().catch(() => {});
    },
  };
}

/** A worker shows itself a moment after it has its name, so that a job taken just now says nothing yet. */
async function releaseJobsOfTheDead(client: pg.Client): Promise<void> {
  await client.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
     from graphile_worker._private_jobs
     where locked_at < now() - interval '10 seconds'
       and not exists (select from pg_locks
         where locktype = 'advisory' and classid = $1 and objid = (hashtext(locked_by)::bigint & 4294967295)::oid and objsubid = 2
           and database = (select oid from pg_database where datname = current_database()))
     having count(*) > 0`,
    [lockClass],
  );
}
