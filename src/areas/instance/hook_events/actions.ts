/**
 * Hook events waiting for their job, written in the transaction of the change (decision 43). A change to which no hook
 * subscribes costs only one index lookup.
 */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { planInForce } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { causeOfCall } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { snapshotInJson, type Telling } from './definition.ts';
import type { Trigger } from './rules.ts';

const retries = 20;

const input = { id: Type.String() };
/** The job that makes the body of an event and adds its deliveries. The area of hooks, which is above, runs it. */
export const announceHookEvent = queueOf('present_hook_event', { input, retries });
/** The same for events of versions that composed bodies in the transaction of the change. */
export const announceComposedEvent = queueOf('announce_hook_event', { input, retries });

/**
 * Where an event happened: hooks of the project, of the group, of all ancestor groups, and of the server can subscribe
 * to it.
 */
export type HookScope = { project_id: number } | { group_id: number } | 'instance';

/** A hook that subscribes to some of the triggers. */
export interface AskingHook {
  id: number;
  /** Whether it is a hook of the server. */
  is_system: boolean;
  triggers: Trigger[];
}

/** @param ids a select of group ids */
const ofGroups = (ids: RawBuilder<unknown>) => sql`
  select hooks.* from hooks where hooks.group_id = any(array(${ids})) and ${planInForce} <> 'free'`;
const ofInstance = sql`select hooks.* from hooks where hooks.project_id is null and hooks.group_id is null`;

/** The hooks that can subscribe to events of a place, whatever their triggers. Group hooks need the plan Premium. */
function hooksOfPlace(place: HookScope): RawBuilder<unknown> {
  if (place === 'instance') return ofInstance;
  if ('group_id' in place)
    return sql`${ofGroups(sql`select unnest(traversal_ids) from namespaces where id = ${place.group_id}`)} union all ${ofInstance}`;
  const { project_id } = place;
  const above = sql`select unnest(traversal_ids) from namespaces where id = (select namespace_id from projects where id = ${project_id})`;
  return sql`select hooks.* from hooks where hooks.project_id = ${project_id} union all ${ofGroups(above)} union all ${ofInstance}`;
}

/** From this number of failures on, a hook is disabled until a test of it succeeds. */
export const failures_that_disable = 40;
/** A predicate on rows of `hooks`: it is a hook, which is not disabled now. Audit events find their destinations themselves. */
const isExecutable = sql<boolean>`(event_type_filters is null and recent_failures < ${sql.lit(failures_that_disable)} and (disabled_until is null or disabled_until <= now()))`;

const asksFor = (trigger: Trigger) =>
  trigger === 'system_events' ? sql`(project_id is null and group_id is null)` : sql.ref(trigger);

/**
 * The hooks that subscribe to at least one of the triggers. Disabled hooks receive nothing.
 * @param tx the transaction of the change
 */
export async function hooksAsking(tx: Database, place: HookScope, triggers: readonly Trigger[]): Promise<AskingHook[]> {
  const asked = triggers.map((trigger) => sql`case when ${asksFor(trigger)} then ${sql.lit(trigger)} end`);
  const { rows } = await sql<AskingHook>`
    select id, project_id is null and group_id is null as is_system, array_remove(array[${sql.join(asked)}], null) as triggers
      from (${hooksOfPlace(place)}) hooks
     where (${sql.join(triggers.map(asksFor), sql` or `)}) and ${isExecutable}`.execute(tx);
  return rows;
}

/**
 * The maximum length of a chain of events, each caused by the previous one: the effects of the last one trigger no
 * webhook.
 */
const deepest = 10;

/** The number of events in the chain that led to the current one. */
function depthOfCall(): RawBuilder<number> {
  const cause = causeOfCall();
  return cause === undefined ? sql`0` : sql`coalesce((select depth + 1 from hook_events where id = ${cause}::uuid), 0)`;
}

/** A select that adds a job for each row of `event`. */
const announcing = sql`
  select graphile_worker.add_job('present_hook_event', json_build_object('id', id), max_attempts => ${sql.lit(retries + 1)}) from event`;

/** The columns by which the hooks for a row of news are found. */
interface Addressed {
  /** Whose hooks receive the event; null for none. */
  project_id: number | null;
  /** The ancestor groups, outermost first. */
  group_ids: number[];
}

/**
 * Adds several hook events, each for its own project or group. Asks for subscribing hooks in the same statement.
 * @param tx the transaction of the change
 * @param event system hooks receive it if `system_events` is among its triggers; hooks of projects and groups subscribe to its other one
 * @param rows a select of the columns that its snapshot needs
 */
export async function tellEach<Row>(
  tx: Database,
  event: Telling<Row>,
  rows: RawBuilder<Row & Addressed>,
): Promise<void> {
  const trigger = event.triggers.find((each) => each !== 'system_events');
  const asking = (where: RawBuilder<unknown>) =>
    sql`array(select hooks.id from hooks where ${where} and ${isExecutable})`;
  const flag = trigger === undefined ? sql`false` : sql.ref(trigger);
  const depth = depthOfCall();
  await sql`
    with news as materialized (${rows}),
    addressed as (
      select news.*, false as is_system,
             ${asking(sql`hooks.project_id = news.project_id and ${flag}`)}
             || ${asking(sql`hooks.group_id = any(news.group_ids) and ${flag} and ${planInForce} <> 'free'`)} as hook_ids
        from news where ${sql.lit(trigger !== undefined)}
      union all
      select news.*, true, ${asking(sql`hooks.project_id is null and hooks.group_id is null`)}
        from news where ${sql.lit(event.triggers.includes('system_events'))}
    ),
    event as (
      insert into hook_events (trigger, is_system, event, snapshot, hook_ids, depth)
      select case when is_system then 'system_events' else ${trigger ?? null}::text end, is_system, ${event.name}, ${snapshotInJson(event)}, hook_ids, ${depth}
        from addressed news where hook_ids <> '{}' and ${depth} <= ${sql.lit(deepest)}
      returning id
    )
    ${announcing}`.execute(tx);
}

/** Events for hooks that were asked before. */
export interface HookNews<Row> {
  event: Telling<Row>;
  /** One of the triggers of the event. */
  trigger: Trigger;
  /** A select of the columns that its snapshot needs: a row for each event, and none if the subject was deleted. */
  rows: RawBuilder<Row>;
}

/**
 * Adds events for the subscribing hooks: for each row one for system hooks, and one for all others.
 * @param tx the transaction of the change
 * @param asking from `hooksAsking`
 */
export async function addHookEvents<Row>(
  tx: Database,
  asking: readonly AskingHook[],
  { event, trigger, rows }: HookNews<Row>,
): Promise<void> {
  const receivers = asking.filter(({ triggers }) => triggers.includes(trigger));
  if (receivers.length === 0) return;
  const depth = depthOfCall();
  await sql`
    with snapped as materialized (select ${snapshotInJson(event)} as snapshot from (${rows}) news),
    receivers as (
      select is_system, array_agg(id) as hook_ids
        from unnest(${receivers.map(({ id }) => id)}::bigint[], ${receivers.map(({ is_system }) => is_system)}::boolean[]) asking(id, is_system)
       group by is_system
    ),
    event as (
      insert into hook_events (trigger, is_system, event, snapshot, hook_ids, depth)
      select ${trigger}, is_system, ${event.name}, snapshot, hook_ids, ${depth} from snapped, receivers where ${depth} <= ${sql.lit(deepest)}
      returning id
    )
    ${announcing}`.execute(tx);
}
