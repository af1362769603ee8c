/** Access rules for objects that belong to a project or a group, such as variables and deploy tokens. */
import type { Access, Caller } from '../http/endpoint.ts';
import { groupRole } from './groups.ts';
import type { Permission } from './permissions.ts';
import { projectRole } from './projects.ts';

/** A project or a group; neither is the whole instance. */
export interface Owner {
  project_id: number | null;
  group_id: number | null;
}

/**
 * Grants the project in `:id` to its maintainers, the group to its owners, and both to holders of a permission.
 * @param archived whether changes are allowed in a project that is archived or otherwise read-only
 */
export function ownerRole(
  kind: 'project' | 'group',
  permission: Permission,
  { archived }: { archived?: true } = {},
): Access<{ caller: Caller; owner: Owner }> {
  if (kind === 'project') {
    const rule = projectRole('maintainer', { permission, ...(archived ? { archived } : {}) });
    return {
      ...rule,
      check: async (call) => {
        const { caller, project } = await rule.check(call);
        return { caller, owner: { project_id: project.id, group_id: null } };
      },
    };
  }
  const rule = groupRole('owner', { permission });
  return {
    ...rule,
    check: async (call) => {
      const { caller, group } = await rule.check(call);
      return { caller, owner: { project_id: null, group_id: group.id } };
    },
  };
}
