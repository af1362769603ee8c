/** What audit events say of requests for access: one that is approved is a new member. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const accessRequestAudit = auditedNoun({
  table: 'access_requests',
  type: 'User',
  target: { id: 'it.user_id', details: '(select username from users where id = it.user_id)' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  removed: 'access_request_denied',
});
