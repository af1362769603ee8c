/** News for hooks that wait for their job, written in the transaction of the change (decision 43). A change that no hook asks for costs one look at indexes. */
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

/** Where something happened: hooks of the project, of the group, of all groups above, and of the server can ask for it. */
export type HookScope = { project_id: number } | { group_id: number } | 'instance';

/** A hook that asks for some of the triggers. */
export interface AskingHook {
  id: number;
  /** Whether it is a hook of the server. */
  is_system: boolean;
  triggers: Trigger[];
}

/** @param ids a select of the ids of groups */
const ofGroups = (ids: RawBuilder<unknown>) => sql`
  select hooks.* from hooks where hooks.group_id = any(array(${ids})) and ${planInForce} <> 'free'`;
const ofInstance = sql`select hooks.* from hooks where hooks.project_id is null and hooks.group_id is null`;

/** The hooks in whose reach a place is, whatever they ask for. Group hooks need the plan Premium. */
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
/** A predicate on rows of `hooks`: it receives what happens now. */
const isExecutable = sql<boolean>`(recent_failures < ${sql.lit(failures_that_disable)} and (disabled_until is null or disabled_until <= now()))`;

const asksFor = (trigger: Trigger) =>
  trigger === 'system_events' ? sql`(project_id is null and group_id is null)` : sql.ref(trigger);

/**
 * The hooks that ask for at least one of the triggers. Disabled hooks receive nothing.
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

/** Events that as many others have led to are the last ones: what follows from them triggers no webhook. */
const deepest = 10;

/** How many events have led to what happens now. */
function depthOfCall(): RawBuilder<number> {
  const cause = causeOfCall();
  return cause === undefined ? sql`0` : sql`coalesce((select depth + 1 from hook_events where id = ${cause}::uuid), 0)`;
}

/** What one statement may send to several hooks. */
export interface News {
  /** What hooks of projects and groups ask for; null: only hooks of the server receive it. */
  trigger: Exclude<Trigger, 'system_events'> | null;
  /** A select with the columns `project_id` (whose hooks receive it; null for none) and `group_ids` (the groups above, outermost first), and those that `facts` needs. */
  rows: RawBuilder<unknown>;
  /** As for `HookEvent`, of one of the rows, which is called `news`. It is evaluated only if a hook asks. */
  facts: RawBuilder<unknown>;
  /** Whether hooks of the server receive it, too. */
  to_system: boolean;
}

/**
 * Tells hooks of several things that have happened, each in its place.
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
  /** An expression of type `json`: the body, with holes where it needs more than the database (docs/decisions/0043-hooks-are-told-from-an-outbox.md). Null when what it is about is gone. */
  facts: RawBuilder<unknown>;
}

/**
 * Leaves an event for those of the hooks that ask for it, one for hooks of the server and one for all others.
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
