/** Who has what to do with compliance frameworks (docs/reference/compliance_frameworks.md#permissions). */
import { groupRole, projectRole, withChange } from '../../../access/index.ts';
import { badRequest } from '../../../http/index.ts';

export const plan = 'ultimate';
export const onlyRootText = 'Compliance frameworks are allowed only for root groups';

const permission = { permission: 'admin_compliance_framework' } as const;

/** The rule of a role, for top-level groups. */
const inRootGroup = (...asked: Parameters<typeof groupRole>): ReturnType<typeof groupRole> => {
  const rule = groupRole(...asked);
  return {
    ...rule,
    async check(call) {
      const granted = await rule.check(call);
      if (granted.group.parent_id !== null) throw badRequest(onlyRootText);
      return granted;
    },
  };
};

export const reader = inRootGroup('reporter');
export const manager = withChange(inRootGroup('owner', permission), ({ group }) => ({ group_id: group.id }));
export const projectReader = projectRole('reporter');
export const projectManager = withChange(projectRole('owner', permission), ({ project }) => ({
  project_id: project.id,
}));
