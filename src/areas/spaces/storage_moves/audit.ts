/** What audit events say of moves of repositories to other storages. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const storageMoveAudit = auditedNoun({
  table: 'repository_storage_moves',
  type: 'RepositoryStorageMove',
  target: { details: 'it.destination_storage' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'storage_move_scheduled',
});
