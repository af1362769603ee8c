/** Recording what happens to issues and epics, in the transaction of the change itself. */
import type { Database } from '../../../db/index.ts';

/** What it happens to. */
export type Resource = { issue_id: number } | { epic_id: number };

/** Who did it, and when: now, where that is left out. Null for what the product does by itself. */
export interface Actor {
  user_id: number | null;
  created_at?: string | undefined;
}

/** Kysely writes the default of a column for a member that is left out, not for undefined among several rows. */
const stamp = ({ user_id, created_at }: Actor) => ({ user_id, ...(created_at === undefined ? {} : { created_at }) });

/**
 * Records which labels were set and removed.
 * @param added ids of labels
 * @param removed ids of labels
 */
export async function recordLabelEvents(
  tx: Database,
  resource: Resource,
  actor: Actor,
  { added, removed }: { added: readonly number[]; removed: readonly number[] },
): Promise<void> {
  const row = { ...resource, ...stamp(actor) };
  const rows = [
    ...added.map((label_id) => ({ ...row, label_id, action: 'add' })),
    ...removed.map((label_id) => ({ ...row, label_id, action: 'remove' })),
  ];
  if (rows.length > 0) await tx.insertInto('resource_label_events').values(rows).execute();
}

/** Records that it was closed or opened again. */
export async function recordStateEvent(
  tx: Database,
  resource: Resource,
  actor: Actor,
  state: 'closed' | 'reopened',
): Promise<void> {
  await tx
    .insertInto('resource_state_events')
    .values({ ...resource, ...stamp(actor), state })
    .execute();
}

/**
 * Records that an issue got another milestone, or none.
 * @param change the ids of the milestones before and after
 * @param state of the issue
 */
export async function recordMilestoneEvent(
  tx: Database,
  { issue_id }: { issue_id: number },
  actor: Actor,
  { from, to }: { from: number | null; to: number | null },
  state: 'opened' | 'closed',
): Promise<void> {
  const milestone = to ?? from;
  if (from === to || milestone === null) return;
  await tx
    .insertInto('resource_milestone_events')
    .values({ issue_id, ...stamp(actor), milestone_id: milestone, action: to === null ? 'remove' : 'add', state })
    .execute();
}

/** Records the weight that an issue has from now on. */
export async function recordWeightEvent(
  tx: Database,
  { issue_id }: { issue_id: number },
  actor: Actor,
  weight: number | null,
): Promise<void> {
  await tx
    .insertInto('resource_weight_events')
    .values({ issue_id, ...stamp(actor), weight })
    .execute();
}

/**
 * Records that an issue got into another iteration, or into none.
 * @param change the ids of the iterations before and after
 */
export async function recordIterationEvent(
  tx: Database,
  { issue_id }: { issue_id: number },
  actor: Actor,
  { from, to }: { from: number | null; to: number | null },
): Promise<void> {
  const iteration = to ?? from;
  if (from === to || iteration === null) return;
  await tx
    .insertInto('resource_iteration_events')
    .values({ issue_id, ...stamp(actor), iteration_id: iteration, action: to === null ? 'remove' : 'add' })
    .execute();
}
