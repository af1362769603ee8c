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

const branch = (column: string) => `(select ${column} from protected_branches where id = it.protected_branch_id)`;

/** What a protection begins with is a part of its creation, in the same transaction. */
const isOlder = `${branch('created_at')} < now()`;

export const branchAccessAudit = auditedNoun({
  table: 'protected_branch_access_levels',
  type: 'ProtectedBranchAccessLevel',
  only_if: isOlder,
  target: { id: 'it.protected_branch_id', details: branch('name') },
  entity: { Project: branch('project_id'), Group: branch('group_id') },
  added: 'protected_branch_updated',
  removed: 'protected_branch_updated',
  members: eachMember(['access_level', 'user_id', 'group_id'], () => ({ event: 'protected_branch_updated' })),
});
