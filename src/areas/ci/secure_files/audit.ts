/** What audit events say of secure files. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const secureFileAudit = auditedNoun({
  table: 'secure_files',
  type: 'Ci::SecureFile',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id' },
  added: 'ci_secure_file_created',
  removed: 'ci_secure_file_deleted',
});
