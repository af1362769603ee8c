/** Lines of the log for audit events (docs/reference/audit_events.md#log-lines). */
import type { Logger } from 'pino';
import { type Database, onAudited } from '../../../db/index.ts';
import { type AuditRow, auditEvent } from './present.ts';

/** Writes a line for each event that is committed on the connections of `db`, which comes from `connect`. */
export const logAuditEvents = (db: Database, log: Logger): void =>
  onAudited(db, (told) => {
    const { event_name, ...event } = auditEvent(JSON.parse(told) as AuditRow);
    log.info({ audit: true, event_name, ...event }, 'audit event');
  });
