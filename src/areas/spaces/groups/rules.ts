/** What a group may be inside another, and what its settings mean. Pure functions. */
import { levels } from '../../../access/index.ts';

/** Most groups inside one another, the top-level group included. */
export const maximumDepth = 20;

/** `project_creation_level` by the numbers of the setting that new groups begin with. */
export const projectCreationLevels: Readonly<Record<number, string>> = {
  0: 'noone',
  1: 'maintainer',
  2: 'developer',
  3: 'administrator',
  4: 'owner',
};

/**
 * Whether a member may add a subgroup.
 * @param parent the group, with the member's level in it and the least role that its owners chose
 */
export function mayCreateSubgroup(parent: { access_level: number; subgroup_creation_level: string }): boolean {
  return parent.access_level >= (parent.subgroup_creation_level === 'owner' ? levels.owner : levels.maintainer);
}
