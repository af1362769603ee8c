/** What audit events say of groups. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const groupAudit = auditedNoun({
  table: 'namespaces',
  type: 'Group',
  target: { details: 'it.full_path' },
  entity: { Group: 'it.id' },
  path: 'it.full_path',
  only_if: "it.kind = 'group'",
  added: 'group_created',
  removed: 'group_destroyed',
  members: {
    marked_for_deletion_at: {
      event: {
        of: "case when new.marked_for_deletion_at is null then 'group_restored' else 'group_deletion_marked' end",
        names: ['group_restored', 'group_deletion_marked'],
      },
      says: 'nothing',
    },
    archived: {
      event: {
        of: "case when new.archived then 'group_archived' else 'group_unarchived' end",
        names: ['group_archived', 'group_unarchived'],
      },
    },
    runner_registration_version: { event: 'ci_runner_token_reset', as: 'registration token', says: 'nothing' },
  },
  rest: {
    event: 'group_*_updated',
    but: [
      'id',
      'kind',
      'full_path',
      'traversal_ids',
      'owner_id',
      'created_at',
      'updated_at',
      'avatar_key',
      'repository_storage',
    ],
    silent: ['description', 'avatar'],
  },
});
