/** What audit events say of webhooks: of the address its host alone, since the rest may open what it names. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const hookAudit = auditedNoun({
  table: 'hooks',
  type: 'WebHook',
  target: { details: "coalesce(it.name, (regexp_match(it.url, '^[^:]+://(?:[^/?#]*@)?([^/?#]+)'))[1])" },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'webhook_created',
  removed: 'webhook_destroyed',
  rest: {
    event: 'webhook_updated',
    but: ['id', 'project_id', 'group_id', 'recent_failures', 'disabled_until', 'created_at', 'updated_at'],
    silent: ['url', 'secrets', 'description', 'custom_webhook_template'],
  },
});
