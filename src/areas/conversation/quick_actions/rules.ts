/** The rights that commands need, and shared messages and checks. Pure functions. */
import { levels, type Project } from '../../../access/index.ts';
import type { Right, Situation } from './definition.ts';

/** Names in a sentence, as `a, b, and c`. */
export const listed = new Intl.ListFormat('en', { type: 'conjunction' });

/** Whether the caller has the right, as in the API (docs/reference/quick_actions.md). */
export function has(
  { quickActions: { holds }, on: { access_level }, is_new, before }: Situation,
  right: Right,
): boolean {
  if (right === 'read') return true;
  if (holds) return is_new || holds({ access_level, is_own: before.is_own });
  if (right === 'report') return access_level >= levels.reporter;
  // Members who create an item may set all its fields.
  if (right === 'plan') return access_level >= (is_new ? levels.guest : levels.planner);
  return access_level >= levels.planner || before.is_own;
}

/** The project of the target, for commands on nouns that belong to projects. */
export function projectOf({ on }: Situation): Project {
  if ('project' in on.in) return on.in.project;
  throw new Error('the target is in no project');
}
