/** What audit events say of feature flags. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const featureFlagAudit = auditedNoun({
  table: 'feature_flags',
  type: 'FeatureFlag',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id' },
  added: 'feature_flag_created',
  removed: 'feature_flag_deleted',
  members: {
    name: { event: 'feature_flag_updated' },
    description: { event: 'feature_flag_updated', says: 'nothing' },
    active: { event: 'feature_flag_updated' },
  },
});
