/** Who may manage feature flags. */
import { type Project, projectRole, type Role } from '../../../access/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';

/** Grants the project in `:id` as `projectRole` does, if its repository and its feature flags are enabled. */
export function flagsRole(role: Role): Access<{ caller: Caller; project: Project }> {
  const granting = projectRole(role, { feature: 'feature_flags' });
  return {
    ...granting,
    async check(call) {
      const granted = await granting.check(call);
      if (granted.project.repository_access_level === 'disabled') throw forbidden();
      return granted;
    },
  };
}
