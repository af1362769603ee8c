/** What audit events say of GPG keys. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const gpgKeyAudit = auditedNoun({
  table: 'gpg_keys',
  type: 'GpgKey',
  target: { details: "encode(it.fingerprint, 'hex')" },
  entity: { User: 'it.user_id' },
  added: 'add_gpg_key',
  removed: 'remove_gpg_key',
});
