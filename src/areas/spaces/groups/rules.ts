/** Rules of nested groups and their settings. Pure functions. */
import { levels } from '../../../access/index.ts';

/** The deepest nesting of groups, including the top-level group. */
export const maximumDepth = 20;

/** `project_creation_level` by the numbers of the setting `default_project_creation`. */
export const projectCreationLevels: Readonly<Record<number, string>> = {
  0: 'noone',
  1: 'maintainer',
  2: 'developer',
  3: 'administrator',
  4: 'owner',
};

/**
 * Whether a member may create a subgroup.
 * @param parent the group, with the member's level in it and its setting
 */
export function mayCreateSubgroup(parent: { access_level: number; subgroup_creation_level: string }): boolean {
  return parent.access_level >= (parent.subgroup_creation_level === 'owner' ? levels.owner : levels.maintainer);
}
