/** Audit events in replies. */
import { Type } from 'typebox';
import { Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import type { auditEventsFor } from './filters.ts';

export type AuditRow = Awaited<ReturnType<ReturnType<typeof auditEventsFor>['execute']>>[number];

export const AuditEvent = resource('AuditEvent', {
  id: Id,
  author_id: Type.Integer(),
  entity_id: Id,
  entity_type: Type.String(),
  event_name: Type.String(),
  details: resource('AuditEventDetails', {
    event_name: Type.String(),
    author_name: Type.String(),
    author_email: nullable(Type.String()),
    author_class: Type.String(),
    target_id: nullable(Id),
    target_type: nullable(Type.String()),
    target_details: nullable(Type.String()),
    add: optional(Type.String()),
    remove: optional(Type.String()),
    change: optional(Type.String()),
    from: optional(nullable(Type.String())),
    to: optional(nullable(Type.String())),
    custom_message: optional(Type.String()),
    as: optional(Type.String()),
    ip_address: nullable(Type.String()),
    entity_path: Type.String(),
  }),
  created_at: Timestamp,
});

interface Said {
  add?: string;
  remove?: string;
  change?: string;
  from?: string | null;
  to?: string | null;
  custom_message?: string;
}

/** @param row of the table, or as JSON of the database */
export function auditEvent(row: AuditRow) {
  const { id, author_id, entity_id, entity_type, event_name, ip_address, acts_as, entity_path } = row;
  const { author_name, author_email, author_class, target_id, target_type, target_details } = row;
  const details = {
    event_name,
    author_name,
    author_email,
    author_class,
    target_id,
    target_type,
    target_details,
    ...(row.details as Said),
    ...(acts_as !== null && { as: acts_as }),
    ip_address: ip_address === null ? null : ip_address.replace(/\/\d+$/, ''),
    entity_path,
  };
  const created_at = new Date(row.created_at).toISOString();
  return { id, author_id, entity_id, entity_type, event_name, details, created_at };
}
