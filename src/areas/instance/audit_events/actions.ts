/** Writing audit events (docs/decisions/0184-audit-events-are-written-by-the-database.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Actor } from '../../../foundation/actors.ts';
import type { AuditEvent } from './definition.ts';

const instance = { type: 'Gitlab::Audit::InstanceScope', id: 1 };

/**
 * Writes an audit event that is not the change of a row, such as a sign-in. Changes of rows need no call: their noun declares them (`auditedNoun`), and whatever
 * changes the row leaves the event.
 * @param tx the transaction of what it tells of. It knows who acts: calls of endpoints set that (`actingAs`).
 * @param event with a name that `spokenNames` lists, and nothing secret
 * @param by who acts, where that is not known from the call: a person who has just signed in, or a command
 */
export async function audit(
  tx: Database,
  { event_name, entity, target, details }: AuditEvent,
  by?: Actor,
): Promise<void> {
  const { type, id } = entity === 'instance' ? instance : entity;
  const path = sql`audit_path(${type}, ${id})`;
  await sql`
    select write_audit_event(${event_name}, ${type}, ${id}, ${path}, ${target ? (target.id ?? null) : id}::bigint, ${target?.type ?? type},
      ${target ? sql`${target.details}` : path}, ${JSON.stringify(details)}::jsonb, ${by ? JSON.stringify(by) : null}::jsonb)`.execute(
    tx,
  );
}
