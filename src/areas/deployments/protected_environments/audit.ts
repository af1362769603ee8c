/** What audit events say of protected environments. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

export const protectedEnvironmentAudit = auditedNoun({
  table: 'protected_environments',
  type: 'ProtectedEnvironment',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'environment_protected',
  removed: 'environment_unprotected',
});

const environment = (column: string) =>
  `(select ${column} from protected_environments where id = it.protected_environment_id)`;
/** What a protection begins with is a part of its creation, in the same transaction. */
const isOlder = `${environment('created_at')} < now()`;
const members = ['access_level', 'user_id', 'group_id', 'group_inheritance_type', 'required_approvals'] as const;

export const environmentRuleAudit = auditedNoun({
  table: 'protected_environment_rules',
  type: 'ProtectedEnvironmentRule',
  only_if: isOlder,
  target: { id: 'it.protected_environment_id', details: environment('name') },
  entity: { Project: environment('project_id'), Group: environment('group_id') },
  added: 'protected_environment_updated',
  removed: 'protected_environment_updated',
  members: eachMember(members, () => ({ event: 'protected_environment_updated' })),
});
