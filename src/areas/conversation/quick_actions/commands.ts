/** The table of commands. */
import type { Definition } from './definition.ts';
import { planningCommands } from './planning_commands.ts';
import { relationCommands } from './relation_commands.ts';
import type { Situation } from './situation.ts';
import { stateCommands } from './state_commands.ts';
import { trackingCommands } from './tracking_commands.ts';

/** Commands on merge requests and commits, each with its other names: known, and never to be applied to anything else. */
const elsewhere: readonly Definition['names'][] = [
  ['assign_reviewer', 'reviewer', 'request_review'],
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

const definitions: readonly Definition[] = [
  ...stateCommands,
  ...planningCommands,
  ...trackingCommands,
  ...relationCommands,
  ...elsewhere.map((names): Definition => ({ names, on: [], needs: 'read', apply: () => undefined })),
];

const byName = new Map<string, Definition[]>();
for (const definition of definitions)
  for (const name of definition.names) byName.set(name, [...(byName.get(name) ?? []), definition]);

/** Whether a word, in lower case, is the name of a command. */
export const isCommand = (name: string): boolean => byName.has(name);

/** What a command is on an issue or epic; where it is nothing there, what it is elsewhere. */
export function definitionOf(name: string, kind: Situation['kind']): Definition {
  const found = byName.get(name) ?? [];
  return found.find(({ on }) => on.includes(kind)) ?? found[0]!;
}
