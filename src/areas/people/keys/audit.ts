/** What audit events say of the SSH keys of people. Deploy keys are said of the projects that they open. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const keyAudit = auditedNoun({
  table: 'keys',
  type: 'Key',
  target: { details: 'it.title' },
  entity: { User: 'it.user_id' },
  only_if: 'it.user_id is not null',
  added: 'add_ssh_key',
  removed: 'remove_ssh_key',
});
