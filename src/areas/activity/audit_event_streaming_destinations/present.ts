/** How streaming destinations appear in replies, and the bodies that they are sent. */
import { type Static, Type } from 'typebox';
import { Id, nullable, resource } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import { AuditEvent, type AuditRow, auditEvent } from '../../instance/audit_events/index.ts';
import { failures_that_disable, presentedEvent } from '../../instance/hook_events/index.ts';
import { type HookRow, noSecrets, unsealed } from '../hooks/queries.ts';

export const StreamingDestination = resource('AuditEventStreamingDestination', {
  id: Id,
  name: Type.String(),
  destination_url: Type.String(),
  event_type_filters: Type.Array(Type.String(), { description: 'Names of events; none for all' }),
  active: Type.Boolean({ description: 'False also when failures have disabled it' }),
  custom_headers: Type.Array(Type.Object({ key: Type.String() })),
  verification_token: nullable(
    Type.String({ description: 'Null if it cannot be decrypted; the next change makes a new one' }),
  ),
  signing_token_present: Type.Boolean(),
});

export function presentDestination(secrets: Secrets, row: HookRow): Static<typeof StreamingDestination> {
  const { token, signing_token, custom_headers } = unsealed(secrets, row) ?? noSecrets;
  return {
    id: row.id,
    name: row.name ?? '',
    destination_url: row.url,
    event_type_filters: row.event_type_filters ?? [],
    active: row.active && row.recent_failures < failures_that_disable,
    custom_headers: Object.keys(custom_headers).map((key) => ({ key })),
    verification_token: token ?? null,
    signing_token_present: signing_token !== undefined,
  };
}

const { target_id, target_type, target_details, author_name, ip_address, entity_path } =
  AuditEvent.properties.details.properties;

/** An audit event for its streaming destinations. The database writes the snapshot, which is the row of the event. */
export const auditEventKind = presentedEvent(
  {
    name: 'audit_event',
    summary:
      'Somebody changed an account, a right, a rule, a secret or a setting, or signed in. Sent to the streaming destinations of audit events only.',
    triggers: ['audit_events'],
    body: Type.Object({
      ...AuditEvent.properties,
      event_type: Type.String(),
      ...{ author_name, ip_address, entity_path, target_id, target_type, target_details },
    }),
  },
  (row: AuditRow) => {
    const event = auditEvent(row);
    const { author_name, ip_address, entity_path, target_id, target_type, target_details } = event.details;
    return {
      ...event,
      event_type: event.event_name,
      ...{ author_name, ip_address, entity_path, target_id, target_type, target_details },
    };
  },
);
