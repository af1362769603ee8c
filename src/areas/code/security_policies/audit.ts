/** What audit events say of security policies. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

const pathOf = (id: string) => `(select full_path from projects where id = ${id})`;

export const policyLinkAudit = auditedNoun({
  table: 'security_policy_links',
  type: 'SecurityPolicyProject',
  target: { id: 'it.policy_project_id', details: pathOf('it.policy_project_id') },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'security_policy_project_linked',
  removed: 'security_policy_project_unlinked',
  members: { policy_project_id: { event: 'security_policy_project_updated', says: pathOf('$') } },
});

export const policyFileAudit = auditedNoun({
  table: 'security_policy_files',
  type: 'SecurityPolicies',
  target: { id: 'it.project_id', details: pathOf('it.project_id') },
  entity: { Project: 'it.project_id' },
  members: { commit_id: { event: 'security_policies_updated', as: 'policies' } },
});
