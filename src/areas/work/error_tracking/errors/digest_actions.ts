/** Groups events: assigns each to an error, and updates the counts and times of errors. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import { markVersionsUsed } from '../releases/version_actions.ts';
import { alertedErrors } from './alert_actions.ts';
import { type ErrorNews, tellOfErrors } from './news_actions.ts';

/** The most events grouped in one transaction. */
export const batchSize = 500;
/** SDKs repeat an event within seconds; a longer interval would touch every partition. */
const repeatedWithin = sql`interval '2 days'`;
/** Per tag of an error; further values are not counted. */
const maximumTagValues = 200;
/** Per error; further tags are not counted. A single event has no more tags than this either. */
const maximumTagKeys = 100;
/** Tags that every event has, and that error lists can be filtered by. */
const ownKeys = ['environment', 'level', 'release', 'server_name'];

interface Waiting {
  id: number;
  received_at: string;
  project_id: number;
  fingerprint: string;
}

/** Takes the oldest queued events. Events deleted meanwhile are skipped. */
async function takeWaiting(tx: Database): Promise<{ taken: number; waiting: Waiting[] }> {
  const { rows } = await sql<Waiting | { project_id: null }>`
    with taken as (
      delete from error_tracking_waiting_events
       where id = any(array(select id from error_tracking_waiting_events order by id limit ${batchSize}))
      returning id, received_at
    )
    select id, received_at::text as received_at, project_id, fingerprint
      from taken left join error_tracking_events events using (received_at, id)
     order by id`.execute(tx);
  return { taken: rows.length, waiting: rows.filter((row): row is Waiting => row.project_id !== null) };
}

/** Processes one batch at a time: an event that was sent twice must not be in two concurrent batches. */
const lockDigestion = (tx: Database) => sql`select pg_advisory_xact_lock(hashtext('digestion of errors'))`.execute(tx);

/** The columns that determine the error of an event or are copied to it, without the payload. */
const digestedColumns = sql.raw(
  'id received_at project_id event_id fingerprint occurred_at environment level release platform name description actor user_hash tags'
    .split(' ')
    .map((column) => `events.${column}`)
    .join(', '),
);

/** The rows of a batch, for use in statements; `received_at` determines the partition of a row. */
const batchOf = (waiting: readonly Waiting[]) => sql`
  batch as materialized (
    select ${digestedColumns} from jsonb_to_recordset(${JSON.stringify(waiting)}::jsonb) as given(id bigint, received_at timestamptz)
      join error_tracking_events events using (received_at, id)
  )`;

/** Deletes repeated events of a batch: those received before, and duplicates within the batch. */
async function deleteRepeated(tx: Database, waiting: readonly Waiting[]): Promise<Waiting[]> {
  const { rows } = await sql<{ id: number }>`
    with ${batchOf(waiting)}, repeated as (
      select id, received_at from (
        select id, received_at, row_number() over (partition by project_id, event_id order by id) as number,
               exists (
                 select from error_tracking_events grouped
                  where grouped.project_id = batch.project_id and grouped.event_id = batch.event_id and grouped.received_at > now() - ${repeatedWithin}
                    and grouped.id <> batch.id and grouped.id <> all(${ofAnyLength(
                      waiting.map(({ id }) => id),
                      'bigint[]',
                    )})
                    and not exists (select from error_tracking_waiting_events others where others.id = grouped.id)
               ) as is_known
          from batch
      ) as numbered
       where number > 1 or is_known
    )
    delete from error_tracking_events events using repeated
     where events.received_at = repeated.received_at and events.id = repeated.id
    returning events.id`.execute(tx);
  const gone = new Set(rows.map(({ id }) => id));
  return waiting.filter(({ id }) => !gone.has(id));
}

/** Locks the errors of a batch in a fixed order, and returns the resolved ones. */
async function resolvedErrors(tx: Database, waiting: readonly Waiting[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number; status: string }>`
    with ${batchOf(waiting)}
    select id, status from error_tracking_errors
     where (project_id, fingerprint) in (select project_id, fingerprint from batch)
     order by id
       for no key update`.execute(tx);
  return new Set(rows.filter(({ status }) => status === 'resolved').map(({ id }) => id));
}

/** The releases of the oldest and the newest event. */
const releasesOf = sql`
  (array_agg(release order by occurred_at, id) filter (where release is not null))[1] as first_release,
  (array_agg(release order by occurred_at desc, id desc) filter (where release is not null))[1] as last_release`;

interface Touched {
  id: number;
  project_id: number;
}

/** Adds the errors that occur for the first time in a batch. Only one transaction at a time adds errors. */
async function addErrors(tx: Database, waiting: readonly Waiting[]): Promise<Touched[]> {
  const { rows } = await sql<Touched>`
    with ${batchOf(waiting)}, fresh as materialized (
      select * from batch where not exists (
        select from error_tracking_errors known where known.project_id = batch.project_id and known.fingerprint = batch.fingerprint)
    ), newest as (
      select distinct on (project_id, fingerprint) project_id, fingerprint, platform, level
        from fresh order by project_id, fingerprint, occurred_at desc, id desc
    ), counted as (
      select project_id, fingerprint, count(*) as events_count, count(distinct user_hash) as users_count,
             min(occurred_at) as first_seen_at, max(occurred_at) as last_seen_at, ${releasesOf}
        from fresh group by project_id, fingerprint
    )
    insert into error_tracking_errors
           (project_id, fingerprint, platform, level, events_count, users_count, first_seen_at, last_seen_at, first_release, last_release)
    select project_id, fingerprint, platform, level, events_count, users_count, first_seen_at, last_seen_at, first_release, last_release
      from newest join counted using (project_id, fingerprint)
     order by project_id, fingerprint
    returning id, project_id`.execute(tx);
  return rows;
}

/** The events of a batch, with the id of their error as `group_id`. */
const digestedOf = (waiting: readonly Waiting[]) => sql`
  ${batchOf(waiting)}, digested as materialized (
    select batch.*, errors.id as group_id from batch
      join error_tracking_errors errors using (project_id, fingerprint)
  )`;

/** The latest event of each error in the batch. */
const latest = sql`latest as (select distinct on (group_id) * from digested order by group_id, occurred_at desc, id desc)`;

/** Updates the texts of errors from their latest events. Unchanged errors are not written, to avoid updates of the full-text index. */
const writeTexts = (tx: Database, waiting: readonly Waiting[]) =>
  sql`
    with ${digestedOf(waiting)}, ${latest}
    insert into error_tracking_error_texts as texts (error_id, project_id, name, description, actor)
    select group_id, project_id, name, description, actor from latest order by group_id
    on conflict (error_id) do update set name = excluded.name, description = excluded.description, actor = excluded.actor
     where (texts.name, texts.description, texts.actor) is distinct from (excluded.name, excluded.description, excluded.actor)`.execute(
    tx,
  );

/**
 * Adds events to existing errors. A resolved error that occurs again is unresolved; an ignored one stays ignored. All changes of an error are written in one statement, because
 * each update writes all indexes of lists.
 * @param added the new errors, which have counted their events already
 * @param users the number of users who encountered each error for the first time
 */
async function countEvents(
  tx: Database,
  waiting: readonly Waiting[],
  added: readonly Touched[],
  users: readonly NewUsers[],
): Promise<Touched[]> {
  const isAdded = sql`errors.id = any(${ofAnyLength(
    added.map(({ id }) => id),
    'bigint[]',
  )})`;
  const { rows } = await sql<Touched>`
    with ${digestedOf(waiting)}, ${latest}, met as (
      select * from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as met(group_id bigint, count bigint)
    ), counted as (
      select group_id, count(*) as events_count, min(occurred_at) as first_seen_at, max(occurred_at) as last_seen_at, ${releasesOf}
        from digested group by group_id
    )
    update error_tracking_errors errors
       set events_count = errors.events_count + counted.events_count,
           users_count = errors.users_count + coalesce(met.count, 0),
           first_seen_at = least(errors.first_seen_at, counted.first_seen_at),
           last_seen_at = greatest(errors.last_seen_at, counted.last_seen_at),
           first_release = case when counted.first_seen_at < errors.first_seen_at
                                then coalesce(counted.first_release, errors.first_release)
                                else coalesce(errors.first_release, counted.first_release) end,
           last_release = case when counted.last_seen_at >= errors.last_seen_at
                               then coalesce(counted.last_release, errors.last_release)
                               else coalesce(errors.last_release, counted.last_release) end,
           platform = latest.platform, level = latest.level,
           status = case errors.status when 'resolved' then 'unresolved' else errors.status end,
           resolved_at = case errors.status when 'resolved' then null else errors.resolved_at end,
           resolved_by_id = case errors.status when 'resolved' then null else errors.resolved_by_id end,
           updated_at = now()
      from counted join latest using (group_id) left join met using (group_id)
     where errors.id = counted.group_id and not ${isAdded}
    returning errors.id, errors.project_id`.execute(tx);
  return rows;
}

/** Whether the error of a tag has a matching tag already. */
const isKnown = (alike: RawBuilder<unknown>) =>
  sql<boolean>`exists (select from error_tracking_error_tags known where known.error_id = group_id ${alike})`;

const knownValues = sql<number>`
  (select count(*) from error_tracking_error_tags known where known.error_id = group_id and known.key = tags.key)`;

/** The number of tags that the error of a tag has. Each takes one index step, however many values it has. */
const knownKeys = sql<number>`(
  with recursive steps as (
    (select key from error_tracking_error_tags known where known.error_id = group_id order by key limit 1)
    union all
    select (select min(key) from error_tracking_error_tags known where known.error_id = group_id and known.key > steps.key)
      from steps where steps.key is not null
  )
  select count(key) from steps)`;

interface NewUsers {
  group_id: number;
  count: number;
}

/** Counts users, tags and hours. @returns the number of users who encountered each error for the first time */
async function countParts(tx: Database, waiting: readonly Waiting[]): Promise<NewUsers[]> {
  const { rows } = await sql<NewUsers>`
    with ${digestedOf(waiting)}, users as (
      insert into error_tracking_error_users (error_id, user_hash)
      select distinct group_id, user_hash from digested where user_hash is not null order by 1, 2
      on conflict do nothing returning error_id
    ), hours as (
      insert into error_tracking_error_hours as hours (error_id, hour, count)
      select group_id, date_trunc('hour', occurred_at, 'UTC'), count(*) from digested group by 1, 2 order by 1, 2
      on conflict (error_id, hour) do update set count = hours.count + excluded.count
    ), tags as (
      select group_id, key, value, count(*) as count, dense_rank() over (partition by group_id order by key) as key_place,
             row_number() over (partition by group_id, key order by value) as value_place
        from digested, jsonb_each_text(digested.tags) as tag(key, value) group by 1, 2, 3
    ), written as (
      insert into error_tracking_error_tags as counted (error_id, key, value, count)
      select group_id, key, value, count from tags
       where case
               when ${isKnown(sql`and known.key = tags.key and known.value = tags.value`)} then true
               when key = any(${ownKeys}::text[]) or ${isKnown(sql`and known.key = tags.key`)} then
                 ${knownValues} + value_place <= ${maximumTagValues}
               else ${knownKeys} + key_place <= ${maximumTagKeys} and value_place <= ${maximumTagValues}
             end
       order by 1, 2, 3
      on conflict (error_id, key, value) do update set count = counted.count + excluded.count
    )
    select error_id as group_id, count(*) as count from users group by error_id`.execute(tx);
  return rows;
}

/** Events whose error was known on arrival have its id already. */
const nameErrors = (tx: Database, waiting: readonly Waiting[]) =>
  sql`
    with ${digestedOf(waiting)}
    update error_tracking_events events set error_id = digested.group_id
      from digested where events.received_at = digested.received_at and events.id = digested.id
       and events.error_id is distinct from digested.group_id`.execute(tx);

/**
 * Groups the oldest queued events, and notifies about errors that are new, recur or occur too often.
 * @param tx a transaction
 * @returns the number of events processed
 */
export async function digestEvents(tx: Database): Promise<number> {
  await lockDigestion(tx);
  const { taken, waiting } = await takeWaiting(tx);
  if (waiting.length === 0) return taken;
  const fresh = await deleteRepeated(tx, waiting);
  if (fresh.length === 0) return taken;
  const resolved = await resolvedErrors(tx, fresh);
  const added = await addErrors(tx, fresh);
  await writeTexts(tx, fresh);
  const known = await countEvents(tx, fresh, added, await countParts(tx, fresh));
  await nameErrors(tx, fresh);
  const regressed = known.filter(({ id }) => resolved.has(id));
  const news: ErrorNews[] = [
    ...added.map((error): ErrorNews => ({ ...error, kind: 'new' })),
    ...regressed.map((error): ErrorNews => ({ ...error, kind: 'regressed' })),
  ];
  await markVersionsUsed(tx, batchOf(fresh));
  const alerts = await alertedErrors(
    tx,
    [...added, ...known].map(({ id }) => id),
  );
  await tellOfErrors(tx, [...news, ...alerts.map((error): ErrorNews => ({ ...error, kind: 'alert' }))]);
  return taken;
}
