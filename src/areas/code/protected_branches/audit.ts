/** What audit events say of protected branches. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

export const protectedBranchAudit = auditedNoun({
  table: 'protected_branches',
  type: 'ProtectedBranch',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'protected_branch_created',
  removed: 'protected_branch_removed',
  members: eachMember(['allow_force_push', 'code_owner_approval_required'], () => ({
    event: 'protected_branch_updated',
  })),
});
