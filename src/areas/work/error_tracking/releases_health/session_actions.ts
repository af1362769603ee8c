/** Counts sessions by their final state, in the hour of their start. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import type { SessionBucket, SessionChange, UserReport } from './session_rules.ts';

/** Per project: pairs of a release and an environment; sessions of further pairs are not counted. */
const maximumReleases = 10_000;

export type OfProject<T> = T & { project_id: number };

const keyOf = ({ project_id, release, environment }: OfProject<{ release: string; environment: string }>) =>
  JSON.stringify([project_id, release, environment]);

/**
 * Adds new releases, and locks all of them until the transaction ends, so that two transactions never count the same session.
 * @returns the ids
 */
async function lockReleases(
  tx: Database,
  given: readonly OfProject<{ release: string; environment: string }>[],
): Promise<Map<string, number>> {
  const distinct = new Map(
    given.map((one) => [
      keyOf(one),
      { project_id: one.project_id, release: one.release, environment: one.environment },
    ]),
  );
  const { rows } = await sql<OfProject<{ id: number; release: string; environment: string }>>`
    insert into error_tracking_releases as releases (project_id, release, environment, last_seen_at)
    select project_id, release, environment, now()
      from jsonb_to_recordset(${JSON.stringify([...distinct.values()])}::jsonb) as given(project_id bigint, release text, environment text)
     where exists (select from projects where projects.id = given.project_id)
       and (exists (select from error_tracking_releases known
                     where known.project_id = given.project_id and known.release = given.release and known.environment = given.environment)
            or (select count(*) from error_tracking_releases known where known.project_id = given.project_id) < ${maximumReleases})
     order by project_id, release collate "C", environment collate "C"
    on conflict (project_id, release, environment) do update set last_seen_at = greatest(releases.last_seen_at, excluded.last_seen_at)
    returning id, project_id, release, environment`.execute(tx);
  return new Map(rows.map(({ id, ...release }) => [keyOf(release), id]));
}

/** Writes the states of sessions, and moves the counts of sessions whose state has changed. */
async function countStates(
  tx: Database,
  changes: readonly (SessionChange & { release_id: number })[],
  buckets: readonly (SessionBucket & { release_id: number })[],
): Promise<void> {
  // The last state of a session counts, also among several messages in a batch.
  const last = new Map<string, SessionChange & { release_id: number }>();
  for (const change of changes) {
    const key = `${change.release_id} ${change.session_id}`;
    const known = last.get(key);
    if (known === undefined || known.changed_at <= change.changed_at) last.set(key, change);
  }
  const counted = buckets.flatMap(({ release_id, started_at, counts }) =>
    Object.entries(counts).map(([state, count]) => ({ release_id, started_at, state, count })),
  );
  const states = Array.from(last.values(), ({ release_id, session_id, state, started_at, changed_at }) => {
    return { release_id, session_id, state, started_at, changed_at };
  });
  await sql`
    with given as (
      select release_id, session_id, state, date_trunc('hour', started_at, 'UTC') as hour, changed_at
        from jsonb_to_recordset(${JSON.stringify(states)}::jsonb)
          as given(release_id bigint, session_id uuid, state text, started_at timestamptz, changed_at timestamptz)
    ), moved as materialized (
      select release_id, session_id, coalesce(known.hour, given.hour) as hour, known.state as before, given.state as after, given.changed_at
        from given left join error_tracking_sessions known using (release_id, session_id)
       where known.changed_at is null or known.changed_at <= given.changed_at
    ), written as (
      insert into error_tracking_sessions (release_id, session_id, state, hour, changed_at)
      select release_id, session_id, after, hour, changed_at from moved
      on conflict (release_id, session_id) do update
         set state = excluded.state, changed_at = excluded.changed_at, updated_at = now()
    ), changes as (
      select release_id, hour, after as state, 1 as count from moved where before is distinct from after
      union all
      -- Not for an hour that is no longer kept.
      select release_id, hour, before, -1 from moved
       where before <> after and exists (select from error_tracking_release_hours hours where (hours.release_id, hours.hour) = (moved.release_id, moved.hour))
      union all
      select release_id, date_trunc('hour', started_at, 'UTC'), state, count
        from jsonb_to_recordset(${JSON.stringify(counted)}::jsonb) as counted(release_id bigint, started_at timestamptz, state text, count bigint)
    )
    insert into error_tracking_release_hours as hours (release_id, hour, started, exited, errored, crashed, abnormal)
    select release_id, hour,
           coalesce(sum(count) filter (where state = 'started'), 0), coalesce(sum(count) filter (where state = 'exited'), 0),
           coalesce(sum(count) filter (where state = 'errored'), 0), coalesce(sum(count) filter (where state = 'crashed'), 0),
           coalesce(sum(count) filter (where state = 'abnormal'), 0)
      from changes group by release_id, hour
    on conflict (release_id, hour) do update
       set started = hours.started + excluded.started, exited = hours.exited + excluded.exited, errored = hours.errored + excluded.errored,
           crashed = hours.crashed + excluded.crashed, abnormal = hours.abnormal + excluded.abnormal`.execute(tx);
}

/** Counts each user of a release once. */
async function countUsers(
  tx: Database,
  given: readonly { release_id: number; user_hash: Buffer | null }[],
): Promise<void> {
  const users = given.flatMap(({ release_id, user_hash }) =>
    user_hash === null ? [] : [{ release_id, user_hash: user_hash.toString('hex') }],
  );
  if (users.length === 0) return;
  await sql`
    with given as (
      select distinct release_id, decode(user_hash, 'hex') as user_hash
        from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as given(release_id bigint, user_hash text)
    ), seen as (
      update error_tracking_release_users users set seen_at = now()
        from given where users.release_id = given.release_id and users.user_hash = given.user_hash
         and users.seen_at < now() - interval '1 hour'
    ), met as (
      insert into error_tracking_release_users (release_id, user_hash, seen_at)
      select release_id, user_hash, now() from given
      on conflict (release_id, user_hash) do nothing
      returning release_id
    )
    update error_tracking_releases releases set users_count = users_count + met.count
      from (select release_id, count(*) as count from met group by release_id) as met
     where releases.id = met.release_id`.execute(tx);
}

/**
 * Counts sessions.
 * @param tx a transaction in which the projects may be deleted already
 */
export async function storeSessions(
  tx: Database,
  { changes, buckets }: { changes: readonly OfProject<SessionChange>[]; buckets: readonly OfProject<SessionBucket>[] },
): Promise<void> {
  if (changes.length + buckets.length === 0) return;
  const releases = await lockReleases(tx, [...changes, ...buckets]);
  const known = <T extends OfProject<{ release: string; environment: string }>>(given: readonly T[]) =>
    given.flatMap((one) => {
      const release_id = releases.get(keyOf(one));
      return release_id === undefined ? [] : [{ ...one, release_id }];
    });
  const [ofKnown, bucketsOfKnown] = [known(changes), known(buckets)];
  await countStates(tx, ofKnown, bucketsOfKnown);
  await countUsers(tx, [...ofKnown, ...bucketsOfKnown]);
}

/**
 * Stores user reports with the events that they refer to; reports about unknown events are dropped.
 * @param tx a transaction
 */
export async function storeUserReports(tx: Database, reports: readonly OfProject<UserReport>[]): Promise<void> {
  if (reports.length === 0) return;
  await sql`
    update error_tracking_events events set user_report = given.report
      from jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) as given(project_id bigint, event_id uuid, report jsonb)
     where events.project_id = given.project_id and events.event_id = given.event_id`.execute(tx);
}
