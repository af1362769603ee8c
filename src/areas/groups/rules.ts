/** What a group may be inside another, and what its settings mean. Pure functions. */
import { levels } from '../../access/index.ts';

/** Most groups inside one another, the top-level group included. */
export const maximumDepth = 20;

/** What is said of a branch protection by numbers, spelled out. */
export interface BranchProtection {
  allowed_to_push: { access_level: number }[];
  allow_force_push: boolean;
  allowed_to_merge: { access_level: number }[];
  developer_can_initial_push: boolean;
}

/**
 * What `default_branch_protection` says of the default branch of new projects.
 * @param level 0 none, 1 against force pushes, 2 fully, 3 against pushes of developers, 4 fully after the first push
 */
export function branchProtection(level: number): BranchProtection {
  const developersPush = level < 2;
  const developersMerge = level < 2 || level === 3;
  return {
    allowed_to_push: [{ access_level: developersPush ? levels.developer : levels.maintainer }],
    allow_force_push: level === 0 || level === 3,
    allowed_to_merge: [{ access_level: developersMerge ? levels.developer : levels.maintainer }],
    developer_can_initial_push: level === 4,
  };
}

/**
 * Whether a member may add a subgroup.
 * @param parent the group, with the member's level in it and the least role that its owners chose
 */
export function mayCreateSubgroup(parent: { access_level: number; subgroup_creation_level: string }): boolean {
  return parent.access_level >= (parent.subgroup_creation_level === 'owner' ? levels.owner : levels.maintainer);
}
