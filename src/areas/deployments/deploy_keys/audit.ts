/** What audit events say of deploy keys, in each project that they open. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const deployKeyAudit = auditedNoun({
  table: 'deploy_key_projects',
  type: 'DeployKey',
  target: { id: 'it.key_id', details: '(select title from keys where id = it.key_id)' },
  entity: { Project: 'it.project_id' },
  added: 'deploy_key_added',
  removed: 'deploy_key_removed',
  members: { can_push: { event: 'deploy_key_updated' } },
});
