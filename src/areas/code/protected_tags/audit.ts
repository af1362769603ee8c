/** What audit events say of protected tags. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const protectedTagAudit = auditedNoun({
  table: 'protected_tags',
  type: 'ProtectedTag',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id' },
  added: 'protected_tag_created',
  removed: 'protected_tag_removed',
  members: { create_access_level: { event: 'protected_tag_updated' } },
});
