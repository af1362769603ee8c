/** What audit events say of applications. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

export const applicationAudit = auditedNoun({
  table: 'oauth_applications',
  type: 'OauthApplication',
  target: { details: 'it.name' },
  entity: { Group: 'it.group_id', User: 'it.user_id' },
  added: 'oauth_application_created',
  removed: 'oauth_application_destroyed',
  members: {
    ...eachMember(['name', 'redirect_uri', 'scopes', 'confidential', 'trusted'], () => ({
      event: 'oauth_application_updated',
    })),
    secret_digest: { event: 'oauth_application_secret_renewed', as: 'secret', says: 'nothing' },
  },
});
