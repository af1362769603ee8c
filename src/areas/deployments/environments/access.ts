/** Who may read and change environments and deployments (docs/reference/environments.md#permissions). */
import { levels, mayUse, type Project, projectRole, type Role } from '../../../access/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';

type EnvironmentsAccess = Access<{ caller: Caller; project: Project }>;

/** Grants the project in `:id` as `projectRole` does, while the caller may use its environments and its repository: deployments tell of commits and branches. */
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

/** Grants the project in `:id` to Reporters and, if it is not private, to every signed-in caller who can see it. */
export const environmentsReader: EnvironmentsAccess = {
  rule: 'project:read_environments',
  async check(call) {
    const granted = await visible.check(call);
    const { access_level, visibility } = granted.project;
    if (access_level < levels.reporter && visibility === 'private') throw forbidden();
    return granted;
  },
};

export const environmentsWriter = environmentsRole('developer');
export const environmentsMaintainer = environmentsRole('maintainer');
