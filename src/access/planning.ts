/** Access rules for labels and milestones, which projects and groups have alike. */
import { type Access, type Caller, isReading } from '../http/endpoint.ts';
import { forbidden } from '../http/errors.ts';
import { groupRole, refuseReadOnlyGroup } from './groups.ts';
import type { Role } from './levels.ts';
import { mayUse, projectRole } from './projects.ts';

/** A project or group with labels and milestones. */
export interface PlanningParent {
  kind: 'project' | 'group';
  id: number;
  name: string;
  /** The namespace of a project; a group's own ID. */
  namespace_id: number;
}

/**
 * Grants the project or group in `:id` to members who have at least `role`; `guest` admits every signed-in caller who can see it. A project without issues and
 * merge requests is refused.
 */
export function planningRole(
  kind: PlanningParent['kind'],
  role: Role,
): Access<{ caller: Caller; parent: PlanningParent }> {
  if (kind === 'group') {
    const access = groupRole(role);
    return {
      ...access,
      async check(call) {
        const { caller, group } = await access.check(call);
        if (!isReading(call.method)) refuseReadOnlyGroup(group);
        return { caller, parent: { kind, id: group.id, name: group.name, namespace_id: group.id } };
      },
    };
  }
  const access = projectRole(role);
  return {
    ...access,
    async check(call) {
      const { caller, project } = await access.check(call);
      if (!mayUse(project, 'issues') && !mayUse(project, 'merge_requests')) throw forbidden();
      return { caller, parent: { kind, id: project.id, name: project.name, namespace_id: project.namespace_id } };
    },
  };
}
