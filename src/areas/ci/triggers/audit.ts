/** What audit events say of tokens that start pipelines. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const triggerAudit = auditedNoun({
  table: 'pipeline_triggers',
  type: 'Ci::Trigger',
  target: { details: 'it.description' },
  entity: { Project: 'it.project_id' },
  added: 'ci_trigger_created',
  removed: 'ci_trigger_deleted',
  members: { description: { event: 'ci_trigger_updated' }, owner_id: { event: 'ci_trigger_updated' } },
});
