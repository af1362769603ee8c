/** Who may read dependencies (docs/reference/dependencies.md#permissions). */
import { holds, mayReadCode, type Project, projectRole } from '../../../access/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';

const visible = projectRole('guest', { archived: true });

/** Grants the project in `:id` to signed-in callers who may read its code, and to holders of `read_dependency`. */
export const dependencyReader: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:read_code or read_dependency',
  async check(call) {
    const granted = await visible.check(call);
    const { project } = granted;
    const isHolder = project.repository_access_level !== 'disabled' && holds(project, 'read_dependency', 'project');
    if (!isHolder && !mayReadCode(project)) throw forbidden();
    return granted;
  },
};
