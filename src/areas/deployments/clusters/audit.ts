/** What audit events say of clusters. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const clusterAudit = auditedNoun({
  table: 'clusters',
  type: 'Clusters::Cluster',
  target: { details: 'it.name' },
  entity: {},
  added: 'cluster_created',
  removed: 'cluster_deleted',
  rest: {
    event: 'cluster_updated',
    but: ['id', 'user_id', 'created_at', 'updated_at'],
    silent: ['token', 'ca_cert', 'api_url'],
  },
});
