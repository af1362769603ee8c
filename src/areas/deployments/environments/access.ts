/** Who may read and change environments and deployments (docs/reference/environments.md#permissions). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  isMemberOfProject,
  isUsable,
  levels,
  type MaybeCaller,
  mayUse,
  type Project,
  projectRole,
  type Role,
} from '../../../access/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';

type EnvironmentsAccess = Access<{ caller: Caller; project: Project }>;

/** Grants the project in `:id` as `projectRole` does, if the caller may use its environments and its repository: deployments reveal commits and branches. */
function environmentsRole(role: Role): EnvironmentsAccess {
  const granting = projectRole(role, { feature: 'environments' });
  return {
    ...granting,
    async check(call) {
      const granted = await granting.check(call);
      if (!mayUse(granted.project, 'repository')) throw forbidden();
      return granted;
    },
  };
}

const visible = environmentsRole('guest');

/** Whether a user who may use the environments and the repository of a visible project may read its environments. */
const isOpenTo = ({ access_level, visibility }: Pick<Project, 'access_level' | 'visibility'>): boolean =>
  access_level >= levels.reporter || visibility !== 'private';

/** Whether the caller may read the environments of a visible project. Nobody else learns where it was deployed. */
export const mayReadEnvironments = (caller: MaybeCaller, project: Project): boolean =>
  caller !== undefined && mayUse(project, 'environments') && mayUse(project, 'repository') && isOpenTo(project);

/** A predicate on visible rows of `projects`: the SQL form of `mayReadEnvironments`. */
export const hasReadableEnvironments = (caller: MaybeCaller): RawBuilder<SqlBool> =>
  caller === undefined
    ? sql`false`
    : sql`(${isUsable(caller, 'environments')} and ${isUsable(caller, 'repository')}
           and (projects.visibility <> 'private' or ${caller.admin ? sql`true` : isMemberOfProject(caller, levels.reporter)}))`;

/** Grants the project in `:id` to Reporters and, if it is not private, to every signed-in caller who can see it. */
export const environmentsReader: EnvironmentsAccess = {
  rule: 'project:read_environments',
  async check(call) {
    const granted = await visible.check(call);
    if (!isOpenTo(granted.project)) throw forbidden();
    return granted;
  },
};

export const environmentsWriter = environmentsRole('developer');
export const environmentsMaintainer = environmentsRole('maintainer');
