/** Access rules for boards: read access requires the right to read issues, changes require the right to edit any issue. */
import { type Group, groupRole, type Project, projectRole, refuseReadOnlyGroup } from '../../../access/index.ts';
import { type Access, type Caller, isReading } from '../../../http/index.ts';

/** A project or group with boards. */
export type BoardPlace =
  | { kind: 'project'; id: number; project: Project }
  | { kind: 'group'; id: number; group: Group };

export interface GrantedPlace {
  caller: Caller;
  place: BoardPlace;
}

/** Grants the project or group in `:id` to members with at least `role`; `guest` admits every signed-in caller who can see it. A project without issues is refused. */
export function boardsRole(kind: BoardPlace['kind'], role: 'guest' | 'planner'): Access<GrantedPlace> {
  if (kind === 'project') {
    const access = projectRole(role, { feature: 'issues' });
    return {
      ...access,
      async check(call) {
        const { caller, project } = await access.check(call);
        return { caller, place: { kind, id: project.id, project } };
      },
    };
  }
  const access = groupRole(role);
  return {
    ...access,
    async check(call) {
      const { caller, group } = await access.check(call);
      if (!isReading(call.method)) refuseReadOnlyGroup(group);
      return { caller, place: { kind, id: group.id, group } };
    },
  };
}
