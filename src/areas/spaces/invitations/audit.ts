/** What audit events say of invitations. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

export const invitationAudit = auditedNoun({
  table: 'invitations',
  type: 'Invitation',
  target: { details: 'it.invite_email' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'invitation_created',
  removed: 'invitation_destroyed',
  members: eachMember(['access_level', 'expires_at', 'member_role_id'], () => ({ event: 'invitation_updated' })),
});
