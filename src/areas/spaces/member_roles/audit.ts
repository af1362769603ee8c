/** What audit events say of custom roles. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const memberRoleAudit = auditedNoun({
  table: 'member_roles',
  type: 'MemberRole',
  target: { details: 'it.name' },
  entity: { Group: 'it.group_id' },
  added: 'member_role_created',
  removed: 'member_role_deleted',
  rest: {
    event: 'member_role_updated',
    but: ['id', 'group_id', 'created_at', 'updated_at', 'permissions'],
    silent: ['description'],
  },
});
