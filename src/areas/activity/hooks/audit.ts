/** What audit events say of webhooks, and of what is streamed to: of the address its host alone, since the rest may open what it names. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

const details = "coalesce(it.name, (regexp_match(it.url, '^[^:]+://(?:[^/?#]*@)?([^/?#]+)'))[1])";

export const hookAudit = auditedNoun({
  table: 'hooks',
  type: 'WebHook',
  only_if: 'it.event_type_filters is null',
  target: { details },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: 'webhook_created',
  removed: 'webhook_destroyed',
  rest: {
    event: 'webhook_updated',
    but: [
      'id',
      'project_id',
      'group_id',
      'recent_failures',
      'disabled_until',
      'created_at',
      'updated_at',
      'active',
      'event_type_filters',
    ],
    silent: ['url', 'secrets', 'description', 'custom_webhook_template'],
  },
});

const named = (done: string) => ({
  of: `case when it.group_id is null then '${done}_instance_audit_event_streaming_destination' else '${done}_group_audit_event_streaming_destination' end`,
  names: [`${done}_instance_audit_event_streaming_destination`, `${done}_group_audit_event_streaming_destination`],
});

export const destinationAudit = auditedNoun({
  table: 'hooks',
  part: 'destination',
  type: 'AuditEventStreamingDestination',
  only_if: 'it.event_type_filters is not null',
  target: { details },
  entity: { Group: 'it.group_id' },
  added: named('created'),
  removed: named('deleted'),
  members: {
    ...eachMember(['name', 'active', 'event_type_filters'], () => ({ event: named('updated') })),
    url: { event: named('updated'), as: 'destination_url', says: 'nothing' },
    secrets: { event: named('updated'), says: 'nothing' },
  },
});
