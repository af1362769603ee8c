/** What audit events say of the token of SCIM. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const scimTokenAudit = auditedNoun({
  table: 'scim_tokens',
  type: 'ScimToken',
  target: { id: 'null', details: "'SCIM'" },
  entity: {},
  added: 'scim_token_created',
  removed: 'scim_token_revoked',
  members: { token_digest: { event: 'scim_token_created', as: 'token', says: 'nothing' } },
});
