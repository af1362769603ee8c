/** What audit events say of CI/CD variables: never their values. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

const nameOf = (rest: string) => ({
  of: `case when it.project_id is not null then 'ci_variable_${rest}' when it.group_id is not null then 'ci_group_variable_${rest}'
    else 'ci_instance_variable_${rest}' end`,
  names: [`ci_variable_${rest}`, `ci_group_variable_${rest}`, `ci_instance_variable_${rest}`],
});
const members = ['key', 'variable_type', 'protected', 'masked', 'hidden', 'raw', 'environment_scope'] as const;

export const variableAudit = auditedNoun({
  table: 'variables',
  type: 'Ci::Variable',
  target: { details: 'it.key' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: nameOf('created'),
  removed: nameOf('deleted'),
  members: {
    ...eachMember(members, () => ({ event: nameOf('updated') })),
    ...eachMember(['value', 'description'], () => ({ event: nameOf('updated'), says: 'nothing' })),
  },
});
