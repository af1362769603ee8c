/** The names of commands, and their definitions for a noun. */
import type { Definition, QuickActions } from './definition.ts';
import { planningCommands } from './planning_commands.ts';
import { relationCommands } from './relation_commands.ts';
import { stateCommands } from './state_commands.ts';
import { trackingCommands } from './tracking_commands.ts';

/** Commands on merge requests and commits, with their aliases: recognized everywhere, and applied only by nouns that have them. */
const elsewhere: readonly Definition['names'][] = [
  ['assign_reviewer', 'reviewer'],
  ['request_review'],
  ['unassign_reviewer', 'remove_reviewer'],
  ['reassign_reviewer'],
  ['create_merge_request'],
  ['approve'],
  ['unapprove'],
  ['merge'],
  ['rebase'],
  ['draft'],
  ['ready'],
  ['target_branch'],
  ['submit_review'],
  ['request_changes'],
  ['tag'],
];

/** The first name of each command, by all its names. */
const names = new Map<string, string>();
const commands = [...stateCommands, ...planningCommands, ...trackingCommands, ...relationCommands];
for (const all of [...commands.map((command) => command.names), ...elsewhere])
  for (const name of all) if (!names.has(name)) names.set(name, all[0]);

/** The commands of a noun. */
export type Taken = Pick<QuickActions, 'commands'>;

/** The definition of a command for a noun, undefined if the noun does not support it. */
export const definitionOf = (name: string, { commands: taken }: Taken): Definition | undefined =>
  taken.find((definition) => definition.names.includes(name));

/** Whether a word, in lower case, is the name of a command: of this noun, or of others. */
export const isCommand = (name: string, taken: Taken): boolean =>
  names.has(name) || definitionOf(name, taken) !== undefined;

/** The name of a command in messages. */
export const nameOf = (name: string, taken: Taken): string =>
  definitionOf(name, taken)?.names[0] ?? names.get(name) ?? name;
