/** What audit events say of members. Bots of access tokens are a part of their tokens. */
import { levels } from '../../../access/index.ts';
import { auditedNoun } from '../../instance/audit_events/index.ts';

const levelName = `case $ ${Object.entries(levels)
  .map(([name, level]) => `when ${level} then '${name}'`)
  .join(' ')} end`;

export const memberAudit = auditedNoun({
  table: 'members',
  type: 'User',
  target: { id: 'it.user_id', details: '(select username from users where id = it.user_id)' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  only_if: "(select user_type from users where id = it.user_id) <> 'project_bot'",
  added: 'member_created',
  removed: 'member_destroyed',
  members: {
    access_level: { event: 'member_updated', says: levelName },
    expires_at: { event: 'member_updated' },
    member_role_id: {
      event: 'member_updated',
      as: 'member_role',
      says: '(select name from member_roles where id = $)',
    },
  },
});
