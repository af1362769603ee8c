/** What audit events say of addresses. That of the account itself is a member of the account. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const emailAudit = auditedNoun({
  table: 'emails',
  type: 'Email',
  target: { details: 'it.email' },
  entity: { User: 'it.user_id' },
  only_if: 'not it.is_primary',
  added: 'email_created',
  removed: 'email_destroyed',
});
