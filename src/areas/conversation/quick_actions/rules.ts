/** Who may give a command, and what several commands say or ask in the same way. Pure functions. */
import { levels, type Project } from '../../../access/index.ts';
import type { Right, Situation } from './definition.ts';

/** Names in a sentence, as `a, b, and c`. */
export const listed = new Intl.ListFormat('en', { type: 'conjunction' });

/** Whether the caller has the right, as over the API (docs/reference/quick_actions.md). */
export function has({ on: { access_level }, is_new, before }: Situation, right: Right): boolean {
  if (right === 'read') return true;
  if (right === 'report') return access_level >= levels.reporter;
  // Members who create something decide on all of it.
  if (right === 'plan') return access_level >= (is_new ? levels.guest : levels.planner);
  return access_level >= levels.planner || before.is_own;
}

/** The project of the target; only commands on what belongs to a project ask. */
export function projectOf({ on }: Situation): Project {
  if ('project' in on.in) return on.in.project;
  throw new Error('the target is in no project');
}
