/** What audit events say of sites. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const geoNodeAudit = auditedNoun({
  table: 'geo_nodes',
  type: 'GeoNode',
  target: { details: 'it.name' },
  entity: {},
  added: 'geo_node_created',
  removed: 'geo_node_deleted',
  rest: {
    event: 'geo_node_updated',
    but: ['id', 'refresh_requested_at', 'repair_requested_at', 'created_at', 'updated_at', 'promoted_at'],
    silent: ['credential'],
  },
});
