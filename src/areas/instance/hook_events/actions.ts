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
import type { Trigger } from './rules.ts';

const retries = 20;

/** The job that completes an event and adds its deliveries. The area of hooks, which is above, runs it. */
export const announceHookEvent = queueOf('announce_hook_event', { input: { id: Type.String() }, retries });

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
/** A predicate on rows of `hooks`: the hook is not disabled now. */
const isExecutable = sql<boolean>`(recent_failures < ${sql.lit(failures_that_disable)} and (disabled_until is null or disabled_until <= now()))`;

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

/** Events that one statement sends to hooks. */
export interface News {
  /** The trigger to which hooks of projects and groups subscribe; null: only system hooks receive the event. */
  trigger: Exclude<Trigger, 'system_events'> | null;
  /**
   * A select with the columns `project_id` (whose hooks receive the event; null for none) and `group_ids` (the ancestor
   * groups, outermost first), and the columns that `facts` needs.
   */
  rows: RawBuilder<unknown>;
  /** As for `HookEvent`, for one of the rows, which is called `news`. It is evaluated only if a hook subscribes. */
  facts: RawBuilder<unknown>;
  /** Whether system hooks receive the event, too. */
  to_system: boolean;
}

/**
 * Adds several hook events, each for its own project or group.
 * @param tx the transaction of the change
 */
export async function tellEach(tx: Database, { trigger, rows, facts, to_system }: News): Promise<void> {
  const asking = (where: RawBuilder<unknown>) =>
    sql`array(select hooks.id from hooks where ${where} and ${isExecutable})`;
  const flag = trigger === null ? sql`false` : sql.ref(trigger);
  const depth = depthOfCall();
  await sql`
    with news as materialized (${rows}),
    addressed as (
      select news.*, false as is_system,
             ${asking(sql`hooks.project_id = news.project_id and ${flag}`)}
             || ${asking(sql`hooks.group_id = any(news.group_ids) and ${flag} and ${planInForce} <> 'free'`)} as hook_ids
        from news where ${sql.lit(trigger !== null)}
      union all
      select news.*, true, ${asking(sql`hooks.project_id is null and hooks.group_id is null`)} from news where ${sql.lit(to_system)}
    ),
    event as (
      insert into hook_events (trigger, is_system, facts, hook_ids, depth)
      select case when is_system then 'system_events' else ${trigger}::text end, is_system, facts, hook_ids, ${depth}
        from (select is_system, hook_ids, ${facts} as facts from addressed news where hook_ids <> '{}') event
       where facts is not null and ${depth} <= ${sql.lit(deepest)}
      returning id
    )
    select graphile_worker.add_job('announce_hook_event', json_build_object('id', id), max_attempts => ${sql.lit(retries + 1)})
      from event`.execute(tx);
}

export interface HookEvent {
  trigger: Trigger;
  /**
   * An expression of type `json`: the body, with holes for values that are not in the database
   * (docs/decisions/0043-hooks-are-told-from-an-outbox.md). Null if the subject was deleted.
   */
  facts: RawBuilder<unknown>;
}

/**
 * Adds an event for the subscribing hooks: one row for system hooks and one for all others.
 * @param tx the transaction of the change
 * @param asking from `hooksAsking`
 */
export async function addHookEvent(
  tx: Database,
  asking: readonly AskingHook[],
  { trigger, facts }: HookEvent,
): Promise<void> {
  const receivers = asking.filter(({ triggers }) => triggers.includes(trigger));
  if (receivers.length === 0) return;
  const depth = depthOfCall();
  await sql`
    with fact as materialized (select ${facts} as facts),
    event as (
      insert into hook_events (trigger, is_system, facts, hook_ids, depth)
      select ${trigger}, is_system, (select facts from fact), array_agg(id), ${depth}
        from unnest(${receivers.map(({ id }) => id)}::bigint[], ${receivers.map(({ is_system }) => is_system)}::boolean[]) receivers(id, is_system)
       where (select facts from fact) is not null and ${depth} <= ${sql.lit(deepest)}
       group by is_system
      returning id
    )
    select graphile_worker.add_job('announce_hook_event', json_build_object('id', id), max_attempts => ${sql.lit(retries + 1)})
      from event`.execute(tx);
}
