/** What audit events say of what people let applications do. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const consentAudit = auditedNoun({
  table: 'oauth_consents',
  type: 'OauthApplication',
  target: {
    id: 'it.application_id',
    details: '(select name from oauth_applications where oauth_applications.id = it.application_id)',
  },
  entity: { User: 'it.user_id' },
  added: 'user_authorized_oauth_application',
  removed: 'user_revoked_oauth_application',
  members: { scopes: { event: 'user_authorized_oauth_application', says: "array_to_string($, ' ')" } },
});
