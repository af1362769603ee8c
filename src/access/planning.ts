/** Rules for what projects and groups have alike to plan work with: labels and milestones. */
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden } from '../http/errors.ts';
import { groupRole } from './groups.ts';
import type { Role } from './levels.ts';
import { mayUse, projectRole } from './projects.ts';

/** The project or group whose work is planned. */
export interface PlanningPlace {
  kind: 'project' | 'group';
  id: number;
  name: string;
  /** Of a project the namespace that it is in, of a group itself. */
  namespace_id: number;
}

const changes = (method: string) => method !== 'GET' && method !== 'HEAD';

/**
 * Grants the project or group in `:id` to members who hold at least `role`; `guest` admits everyone signed in who may know of it. A project without issues and
 * merge requests has nothing to plan.
 */
export function planningRole(kind: PlanningPlace['kind'], role: Role): Access<{ caller: Caller; place: PlanningPlace }> {
  if (kind === 'group') {
    const access = groupRole(role);
    return {
      rule: access.rule,
      async check(call) {
        const { caller, group } = await access.check(call);
        if (changes(call.method) && (group.archived || group.marked_for_deletion)) throw forbidden();
        return { caller, place: { kind, id: group.id, name: group.name, namespace_id: group.id } };
      },
    };
  }
  const access = projectRole(role);
  return {
    rule: access.rule,
    async check(call) {
      const { caller, project } = await access.check(call);
      if (!mayUse(project, 'issues') && !mayUse(project, 'merge_requests')) throw forbidden();
      return { caller, place: { kind, id: project.id, name: project.name, namespace_id: project.namespace_id } };
    },
  };
}
