/** Recording resource events of issuables, in the transaction of the change. */
import { type RawBuilder, sql } from 'kysely';
import type { Issuable, IssuableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** The user who made the change (null for the system), and its time (now by default). */
export interface Actor {
  user_id: number | null;
  created_at?: string | undefined;
}

/** Kysely inserts a column's default for an omitted field, but not for `undefined` in one of several rows. */
const stamp = ({ user_id, created_at }: Actor) => ({ user_id, ...(created_at === undefined ? {} : { created_at }) });

/**
 * Records added and removed labels.
 * @param added ids of labels
 * @param removed ids of labels
 */
export async function recordLabelEvents(
  tx: Database,
  resource: Issuable,
  actor: Actor,
  { added, removed }: { added: readonly number[]; removed: readonly number[] },
): Promise<void> {
  if (added.length + removed.length === 0) return;
  const changed = (ids: readonly number[], action: string) => sql`
    select ${resource.id}::bigint, ${actor.user_id}::bigint, label_id, ${action}, coalesce(${actor.created_at ?? null}::timestamptz, now())
      from unnest(${ids}::bigint[]) label_id`;
  const rows = sql`${changed(added, 'add')} union all ${changed(removed, 'remove')}`;
  await labelEventsOf(resource.kind, rows).execute(tx);
}

/**
 * A statement that records changes of labels, alone or as part of another one.
 * @param rows a select of the id of the issuable, user_id, label_id, action and created_at
 */
export const labelEventsOf = ({ column }: IssuableKind, rows: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into resource_label_events (${sql.ref(column)}, user_id, label_id, action, created_at) ${rows}`;

/** Records that an issuable was closed, reopened or merged. */
export async function recordStateEvent(
  tx: Database,
  resource: Issuable,
  actor: Actor,
  state: 'closed' | 'reopened' | 'merged',
): Promise<void> {
  await tx
    .insertInto('resource_state_events')
    .values({ [resource.kind.column]: resource.id, ...stamp(actor), state })
    .execute();
}

/** The column that refers to an issue, in event tables of issues only. */
const issueColumn = ({ kind, id }: Issuable) => ({ [kind.column]: id }) as { issue_id: number };

/**
 * Records that the milestone of an issue or merge request was changed or removed.
 * @param change the ids of the milestones before and after
 * @param state of the issue or merge request
 */
export async function recordMilestoneEvent(
  tx: Database,
  noteable: Issuable,
  actor: Actor,
  { from, to }: { from: number | null; to: number | null },
  state: 'opened' | 'closed' | 'merged',
): Promise<void> {
  const milestone = to ?? from;
  if (from === to || milestone === null) return;
  await tx
    .insertInto('resource_milestone_events')
    .values({
      [noteable.kind.column]: noteable.id,
      ...stamp(actor),
      milestone_id: milestone,
      action: to === null ? 'remove' : 'add',
      state,
    })
    .execute();
}

/** Records the new weight of an issue. */
export async function recordWeightEvent(
  tx: Database,
  noteable: Issuable,
  actor: Actor,
  weight: number | null,
): Promise<void> {
  await tx
    .insertInto('resource_weight_events')
    .values({ ...issueColumn(noteable), ...stamp(actor), weight })
    .execute();
}

/**
 * Records that the iteration of an issue was changed or removed.
 * @param change the ids of the iterations before and after
 */
export async function recordIterationEvent(
  tx: Database,
  noteable: Issuable,
  actor: Actor,
  { from, to }: { from: number | null; to: number | null },
): Promise<void> {
  const iteration = to ?? from;
  if (from === to || iteration === null) return;
  await tx
    .insertInto('resource_iteration_events')
    .values({
      ...issueColumn(noteable),
      ...stamp(actor),
      iteration_id: iteration,
      action: to === null ? 'remove' : 'add',
    })
    .execute();
}
