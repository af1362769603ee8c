/** Quick actions: commands in descriptions and comments (docs/reference/quick_actions.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { ApiError, reaches } from '../../../http/index.ts';
import { definitionOf, nameOf } from './commands.ts';
import type { CommandTarget, Outcome, QuickActions, Situation, TargetState } from './definition.ts';
import { type Command, extractCommands } from './extraction_rules.ts';
import { has } from './rules.ts';

export interface CommandOutcome {
  /** The changes by attribute, for the reply. */
  commands_changes: Record<string, unknown>;
  /** A sentence for each command, including those that could not be applied. */
  summary: string[];
  /** The number of applied commands. */
  applied: number;
}

/** The state of a noun that has none of these fields. */
const blank = {
  ...{
    title: '',
    confidential: false,
    discussion_locked: null,
    issue_type: '',
    due_date: null,
    weight: null,
    health_status: null,
  },
  time_estimate_s: 0,
  total_time_spent_s: 0,
  milestone_id: null,
  iteration_id: null,
  parent_id: null,
  assignee_ids: [],
  reviewer_ids: [],
  is_own: false,
};

/** The state before the first command. */
async function situationOf(tx: Database, quickActions: QuickActions, target: CommandTarget): Promise<Situation> {
  const { on, caller } = target;
  const { labels, column } = on.kind;
  const { rows } = await sql<Pick<TargetState, 'state' | 'labels'>>`
    select found.*,
           coalesce((select jsonb_agg(jsonb_build_object('id', labels.id, 'title', title))
                       from ${sql.table(labels)} join labels on labels.id = label_id where ${sql.ref(column)} = ${on.id}), '[]') as labels
      from (${quickActions.state(on.id, caller.id)}) found`.execute(tx);
  return {
    ...target,
    tx,
    quickActions,
    operations: quickActions.operations(tx, target, on),
    kind: on.kind.name,
    changes: {},
    commands_changes: {},
    labels_from: 'project' in on.in ? { project_id: on.in.project.id } : { group_id: on.in.group.id },
    before: { ...blank, ...rows[0]! },
  };
}

/** The message of a command, or its deferred work; undefined if the caller may not use it, or it does not apply to the target. */
async function begin(situation: Situation, { name, argument }: Command): Promise<Outcome> {
  const definition = definitionOf(name, situation.quickActions);
  if (!definition) return undefined;
  const { needs, plan, existing, apply } = definition;
  const isRefused =
    (existing === true && situation.is_new) ||
    (plan !== undefined && !reaches(situation.plan, plan)) ||
    !has(situation, needs);
  return isRefused ? undefined : apply(situation, argument);
}

/**
 * Runs work of commands, all or nothing.
 * @param work returns false, or throws an `ApiError`, if it was not possible
 * @returns whether it succeeded; otherwise the transaction is in its previous state
 */
export async function allOrNothing(tx: Database, work: () => Promise<boolean>): Promise<boolean> {
  await sql`savepoint done_by_commands`.execute(tx);
  const isDone = await work().catch((error: unknown) => {
    if (error instanceof ApiError) return false;
    throw error;
  });
  if (!isDone) await sql`rollback to savepoint done_by_commands`.execute(tx);
  await sql`release savepoint done_by_commands`.execute(tx);
  return isDone;
}

/**
 * Edits the target as the commands request, all or nothing, under the same rules as an edit through the API.
 * @returns whether the edit was made
 */
const edit = async ({ tx, operations, changes }: Situation): Promise<boolean> =>
  Object.keys(changes).length === 0 || allOrNothing(tx, () => operations.update(changes).then(() => true));

/**
 * Changes a target, and then applies the quick actions in its new description, which are removed from the text.
 * @param tx the transaction of the change
 * @param change applies the given changes
 */
export async function changeWithCommands<Changes extends { description?: string | null | undefined }>(
  tx: Database,
  quickActions: QuickActions,
  target: Omit<CommandTarget, 'is_new'>,
  changes: Changes,
  change: (changes: Changes) => Promise<void>,
): Promise<void> {
  if (!changes.description) return change(changes);
  const { text: description, commands } = await extractCommands(changes.description, quickActions);
  await change({ ...changes, description });
  if (commands.length > 0) await applyCommands(tx, quickActions, { ...target, is_new: false }, commands);
}

/**
 * Applies commands, as far as the caller may. A command that cannot be applied changes nothing and reports it in its
 * message. The target is edited once for all commands; then deferred work follows in order.
 * @param tx the transaction that has stored their text: the comment resolves to-do items, and `/todo` adds one
 */
export async function applyCommands(
  tx: Database,
  quickActions: QuickActions,
  target: CommandTarget,
  commands: readonly Command[],
): Promise<CommandOutcome> {
  const situation = await situationOf(tx, quickActions, target);
  const begun: { command: Command; outcome: Outcome }[] = [];
  for (const command of commands) begun.push({ command, outcome: await begin(situation, command) });
  const isEdited = await edit(situation);
  if (!isEdited) situation.commands_changes = {};
  const summary: string[] = [];
  let applied = 0;
  for (const { command, outcome } of begun) {
    const said = typeof outcome === 'function' ? await outcome() : isEdited ? outcome : undefined;
    if (said !== undefined) applied += 1;
    summary.push(said ?? `Could not apply ${nameOf(command.name, quickActions)} command.`);
  }
  return { commands_changes: situation.commands_changes, summary, applied };
}
