/**
 * Announcing events to hooks, sending them, and deleting old ones (docs/reference/hooks.md#deliveries, decision 43).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { type Expression, matchEach } from '../../../expressions/index.ts';
import { type JobCall, job } from '../../../jobs/index.ts';
import {
  announceComposedEvent,
  announceHookEvent,
  failures_that_disable,
  type Trigger,
} from '../../instance/hook_events/index.ts';
import { bodyOf } from './body_present.ts';
import { filled } from './composed_present.ts';
import { attempt, type Outgoing, recordAttempt, sendDeliveries, wake } from './delivery_actions.ts';
import type { HookRow } from './queries.ts';
import { wildcardSource } from './rules.ts';

/** The maximum number of deliveries waiting for one hook, and for one destination of audit events. Further events are dropped. */
const maximumWaiting = { hook: 1000, destination: 10_000 };

/** Whether a hook subscribes to pushes to a branch. */
async function asksForBranch(
  {
    branch_filter_strategy: strategy,
    push_events_branch_filter: filter,
  }: Pick<HookRow, 'branch_filter_strategy' | 'push_events_branch_filter'>,
  branch: string,
): Promise<boolean> {
  if (!filter || strategy === 'all_branches') return true;
  const expression: Expression = { source: strategy === 'regex' ? filter : wildcardSource(filter) };
  // An expression that takes too long counts as no match: dropping one event is better than blocking all others.
  const [matches] = await matchEach(expression, [branch], 1000).catch(() => [false]);
  return matches ?? false;
}

/** The hooks that an event triggers. */
async function hooksToTell(
  db: Database,
  { hook_ids, trigger, body }: { hook_ids: number[]; trigger: string; body: unknown },
) {
  const hooks = await db
    .selectFrom('hooks')
    .select(['id', 'branch_filter_strategy', 'push_events_branch_filter'])
    .where('id', '=', sql<number>`any(${hook_ids}::bigint[])`)
    .execute();
  const ids = hooks.map(({ id }) => id);
  if (trigger !== 'push_events') return ids;
  const branch = (body as { ref: string }).ref.replace(/^refs\/heads\//, '');
  const asked = await Promise.all(hooks.map((hook) => asksForBranch(hook, branch)));
  return ids.filter((_id, place) => asked[place]);
}

/** Stores the body of an event and adds its deliveries, once. */
async function announce(
  db: Database,
  id: string,
  { from, body, ...event }: { from: 'snapshot' | 'facts'; hook_ids: number[]; trigger: string; body: unknown },
): Promise<void> {
  const receivers = await hooksToTell(db, { ...event, body });
  const most = sql`case when hooks.event_type_filters is null then ${sql.lit(maximumWaiting.hook)} else ${sql.lit(maximumWaiting.destination)} end`;
  await db.transaction().execute(async (tx) => {
    const completed = tx
      .updateTable('hook_events')
      .set({ [from]: null, body: JSON.stringify(body) })
      .where('id', '=', id);
    if (!(await completed.where(from, 'is not', null).returning('id').executeTakeFirst())) return;
    await sql`
      insert into hook_deliveries (hook_id, event_id, due_at)
      select hooks.id, ${id}, now() from hooks
       where hooks.id = any(${receivers}::bigint[])
         and (select count(*) from (select from hook_deliveries waiting where waiting.hook_id = hooks.id and waiting.due_at is not null
                                     limit ${most}) found) < ${most}
       for key share`.execute(tx);
    await wake(tx, 'new');
  });
}

/** Makes the body of an event and adds its deliveries. */
export const announceEvents = announceHookEvent.runBy(async ({ input: { id }, ...services }) => {
  const waiting = services.db
    .selectFrom('hook_events')
    .select(['event', 'snapshot', 'trigger', 'is_system', 'hook_ids'])
    .where('id', '=', id)
    .where('snapshot', 'is not', null);
  const event = await waiting.executeTakeFirst();
  if (!event) return;
  const body = await bodyOf(services, event.event!, event.snapshot, event);
  await announce(services.db, id, { from: 'snapshot', ...event, body });
});

/** The same for events that versions before 0.1.0 recorded. */
export const announceComposedEvents = announceComposedEvent.runBy(async ({ input: { id }, ...services }) => {
  const waiting = services.db
    .selectFrom('hook_events')
    .select(['facts', 'trigger', 'hook_ids'])
    .where('id', '=', id)
    .where('facts', 'is not', null);
  const event = await waiting.executeTakeFirst();
  if (event) await announce(services.db, id, { from: 'facts', ...event, body: await filled(services, event.facts) });
});

/**
 * The limits of concurrent deliveries: for all hooks, for all hooks together whose last attempt failed, and for one
 * hook.
 */
const at_once = { all: 64, failing: 32, hook: 2 };
/** The maximum total size of bodies being sent, unless a single one is longer. */
const maximum_bytes = 64 * 1024 * 1024;
/** The interval at which new deliveries are looked for while others are being sent. */
const look_ms = 250;

interface Due {
  id: number;
  attempt: number;
  bytes: number;
  hook_id: number;
  is_failing: boolean;
}

/** A predicate on rows of `hooks`: due deliveries may be sent to it. */
const isSendable = sql<boolean>`hooks.active and hooks.recent_failures < ${sql.lit(failures_that_disable)} and (hooks.disabled_until is null or hooks.disabled_until <= now())`;

/** The due deliveries, the oldest of each hook, except for those being sent. */
async function dueDeliveries(db: Database, under_way: readonly number[]): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select id, attempt, bytes, hook_id, is_failing from (
      select due.id, due.attempt, due.hook_id, due.due_at, octet_length(hook_events.body) as bytes, hooks.recent_failures > 0 as is_failing,
             row_number() over (partition by due.hook_id order by due.due_at, due.id) as place
        from hook_deliveries due join hooks on hooks.id = due.hook_id and ${isSendable} join hook_events on hook_events.id = due.event_id
       where due.due_at <= now() and due.id <> all(${under_way}::bigint[])
    ) due
    where place <= ${sql.lit(at_once.hook)} order by is_failing, due_at, id limit ${sql.lit(at_once.all)}`.execute(db);
  return rows;
}

async function outgoingOf(db: Database, id: number): Promise<Outgoing | undefined> {
  const row = await db
    .selectFrom('hook_deliveries')
    .innerJoin('hooks', 'hooks.id', 'hook_deliveries.hook_id')
    .innerJoin('hook_events', 'hook_events.id', 'hook_deliveries.event_id')
    .selectAll('hooks')
    .select(['hook_deliveries.event_id', 'hook_deliveries.idempotency_key', 'hook_events.trigger', 'hook_events.body'])
    .where('hook_deliveries.id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { event_id, idempotency_key, trigger, body, ...hook } = row;
  return { hook, event_id, idempotency_key, trigger: trigger as Trigger, body: body! };
}

type Call = JobCall<Record<never, never>>;

async function deliver({ db, secrets, url, signal }: Call, { id, attempt: number }: Due): Promise<void> {
  const outgoing = await outgoingOf(db, id);
  if (!outgoing) return;
  const outcome = await attempt({ db, secrets, url }, outgoing, signal);
  await db.transaction().execute(async (tx) => {
    const after_s = await recordAttempt(tx, { id, attempt: number, outgoing }, outcome);
    if (after_s !== undefined) await wake(tx, `after ${id}`, after_s);
  });
}

/** The due deliveries that can start in addition to those being sent. */
function beginnable(due: readonly Due[], under_way: readonly Due[]): Due[] {
  const begun: Due[] = [];
  for (const one of due) {
    const all = [...under_way, ...begun];
    const ofHook = all.filter(({ hook_id }) => hook_id === one.hook_id).length;
    const failing = all.filter(({ is_failing }) => is_failing).length;
    const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
    if (all.length >= at_once.all || ofHook >= at_once.hook) continue;
    if (one.is_failing && failing >= at_once.failing) continue;
    if (all.length === 0 || bytes + one.bytes <= maximum_bytes) begun.push(one);
  }
  return begun;
}

/**
 * Sends all due deliveries, and ends when none is being sent. A hook that does not respond blocks only its own slots.
 * Deliveries being sent when the process died are sent again by the next run, with the same idempotency key.
 */
export const sendHookDeliveries = sendDeliveries.runBy(async (call) => {
  const under_way = new Map<Due, Promise<void>>();
  let failure: unknown;
  while (failure === undefined) {
    call.signal.throwIfAborted();
    const known = [...under_way.keys()];
    const due = await dueDeliveries(
      call.db,
      known.map(({ id }) => id),
    );
    for (const one of beginnable(due, known)) {
      const sent = deliver(call, one)
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => under_way.delete(one));
      under_way.set(one, sent);
    }
    if (under_way.size > 0) await Promise.race([...under_way.values(), sleep(look_ms)]);
    // Due deliveries may have waited for one that has ended in the meantime.
    else if (due.length === 0) break;
  }
  await Promise.all(under_way.values());
  if (failure !== undefined) throw failure;
});

/** How long events and their deliveries are stored. */
const kept = sql`interval '7 days'`;
const batch = 1000;

/**
 * Every night: deletes events that are a week old, sent or not, and wakes the job once for deliveries that no job would
 * send.
 */
export const removeOldHookEvents = job('remove_old_hook_events', {
  input: {},
  retries: 3,
  schedule: '20 2 * * *',
  run: async ({ db, signal }) => {
    await wake(db, 'new');
    for (;;) {
      signal.throwIfAborted();
      const { numAffectedRows = 0n } = await sql`
        delete from hook_events where id in (
          select id from hook_events where created_at < now() - ${kept} order by created_at limit ${sql.lit(batch)})`.execute(
        db,
      );
      if (numAffectedRows === 0n) return;
    }
  },
});
