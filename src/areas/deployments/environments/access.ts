/** Who may read environments and deployments (docs/reference/environments.md#permissions). */
import { levels, type Project, projectRole } from '../../../access/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';

const visible = projectRole('guest', { feature: 'environments' });

/** Grants the project in `:id` to Reporters and, if it is not private, to every signed-in caller who can see it. */
export const environmentsReader: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:read_environments',
  async check(call) {
    const granted = await visible.check(call);
    const { access_level, visibility } = granted.project;
    if (access_level < levels.reporter && visibility === 'private') throw forbidden();
    return granted;
  },
};

export const environmentsWriter = projectRole('developer', { feature: 'environments' });
export const environmentsMaintainer = projectRole('maintainer', { feature: 'environments' });
