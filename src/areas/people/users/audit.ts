/** What audit events say of accounts. A deletion is told of when it is asked for (`scheduleRemoval`): a job deletes the row later. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

const stateNames = {
  blocked: 'user_blocked',
  unblocked: 'unblock_user',
  banned: 'ban_user',
  unbanned: 'unban_user',
  activated: 'user_activate',
  deactivated: 'user_deactivate',
  approved: 'user_approved',
};

const stateEvent = `case
  when new.state = 'banned' then '${stateNames.banned}'
  when new.state = 'deactivated' then '${stateNames.deactivated}'
  when new.state <> 'active' then '${stateNames.blocked}'
  when old.state = 'banned' then '${stateNames.unbanned}'
  when old.state = 'deactivated' then '${stateNames.activated}'
  when old.state = 'blocked_pending_approval' then '${stateNames.approved}'
  else '${stateNames.unblocked}' end`;

export const userAudit = auditedNoun({
  table: 'users',
  type: 'User',
  target: { details: 'it.username' },
  entity: { User: 'it.id' },
  path: 'it.username',
  only_if: "it.user_type in ('human', 'service_account')",
  added: 'user_created',
  members: {
    state: { event: { of: stateEvent, names: Object.values(stateNames) } },
    admin: { event: 'user_admin_status_updated' },
    external: { event: 'user_external_status_updated' },
    name: { event: 'user_name_updated' },
    username: { event: 'user_username_updated' },
    email: { event: 'user_email_address_updated' },
    password_digest: { event: 'user_password_updated', as: 'password', says: 'nothing' },
  },
});

export const identityAudit = auditedNoun({
  table: 'user_identities',
  type: 'Identity',
  target: { id: 'null', details: 'it.provider' },
  entity: { User: 'it.user_id' },
  added: 'identity_created',
  removed: 'identity_destroyed',
  members: { extern_uid: { event: 'identity_created', says: 'add' } },
});
