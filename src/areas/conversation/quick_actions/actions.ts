/** Quick actions: commands in descriptions and comments (docs/reference/quick_actions.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { ApiError, reaches } from '../../../http/index.ts';
import { definitionOf } from './commands.ts';
import type { Outcome } from './definition.ts';
import type { Command } from './extraction_rules.ts';
import { type Commandable, type CommandTarget, has, type Situation, situationOf } from './situation.ts';

export interface CommandOutcome {
  /** What was changed, by attribute; for the reply. */
  commands_changes: Record<string, unknown>;
  /** A sentence for each command, also for those that could not be applied. */
  summary: string[];
  /** How many were applied. */
  applied: number;
}

/** What a command says, or does later; nothing where it is not the caller's to give, or not here. */
async function begin(situation: Situation, { name, argument }: Command): Promise<Outcome> {
  const { on, needs, plan, existing, apply } = definitionOf(name, situation.kind);
  const isRefused =
    !on.includes(situation.kind) ||
    (existing === true && situation.is_new) ||
    (plan !== undefined && !reaches(situation.plan, plan)) ||
    !has(situation, needs);
  return isRefused ? undefined : apply(situation, argument);
}

/**
 * Edits the target as the commands ask, all or nothing: what an edit over the API would be refused for is not done here either.
 * @returns whether it was done
 */
async function edit({ tx, operations, changes }: Situation): Promise<boolean> {
  if (Object.keys(changes).length === 0) return true;
  await sql`savepoint edited_by_commands`.execute(tx);
  try {
    await operations.update(changes);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await sql`rollback to savepoint edited_by_commands`.execute(tx);
    return false;
  }
  await sql`release savepoint edited_by_commands`.execute(tx);
  return true;
}

/**
 * Does what commands say, as far as the caller may. A command that cannot be applied is said to be so, and changes nothing. The target is edited once for all of
 * them; then follows, in their order, what is no edit.
 * @param tx the transaction that writes the text they stood in, after that text: what is written crosses off to-dos, and `/todo` adds one
 */
export async function applyCommands(
  tx: Database,
  noun: Commandable,
  target: CommandTarget,
  commands: readonly Command[],
): Promise<CommandOutcome> {
  const situation = await situationOf(tx, noun, target);
  const begun: { command: Command; outcome: Outcome }[] = [];
  for (const command of commands) begun.push({ command, outcome: await begin(situation, command) });
  const isEdited = await edit(situation);
  if (!isEdited) situation.commands_changes = {};
  const summary: string[] = [];
  let applied = 0;
  for (const { command, outcome } of begun) {
    const said = typeof outcome === 'function' ? await outcome() : isEdited ? outcome : undefined;
    if (said !== undefined) applied += 1;
    summary.push(said ?? `Could not apply ${definitionOf(command.name, situation.kind).names[0]} command.`);
  }
  return { commands_changes: situation.commands_changes, summary, applied };
}
