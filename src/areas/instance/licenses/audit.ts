/** What audit events say of licenses. */
import { auditedNoun } from '../audit_events/definition.ts';

export const licenseAudit = auditedNoun({
  table: 'licenses',
  type: 'License',
  target: { details: 'it.plan' },
  entity: {},
  added: 'license_created',
  removed: 'license_deleted',
});
