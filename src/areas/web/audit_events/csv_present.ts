/** Audit events as lines of a file. */
import type { Static } from 'typebox';
import { csvLine } from '../../../texts/index.ts';
import type { AuditEvent } from '../../instance/audit_events/index.ts';

export type Listed = Static<typeof AuditEvent>;

/** What was done, in one text. */
export function textOfDetails({ add, remove, change, from, to, custom_message }: Listed['details']): string {
  if (add !== undefined) return `added ${add}`;
  if (remove !== undefined) return `removed ${remove}`;
  if (change === undefined) return custom_message ?? '';
  return from === undefined && to === undefined
    ? `changed ${change}`
    : `changed ${change} from ${from ?? 'nothing'} to ${to ?? 'nothing'}`;
}

const heads = [
  'id',
  'created_at',
  'event_name',
  'author_id',
  'author_name',
  'author_email',
  'as',
  'ip_address',
  'entity_type',
  'entity_id',
  'entity_path',
  'target_type',
  'target_id',
  'target',
  'action',
];

const cellsOf = ({ id, created_at, event_name, author_id, entity_type, entity_id, details }: Listed) => [
  id,
  created_at,
  event_name,
  author_id,
  details.author_name,
  details.author_email,
  details.as,
  details.ip_address,
  entity_type,
  entity_id,
  details.entity_path,
  details.target_type,
  details.target_id,
  details.target_details,
  textOfDetails(details),
];

/** The file: a line of names, and a line for each event. */
export const csvOf = (events: readonly Listed[]): string =>
  [heads, ...events.map(cellsOf)].map((cells) => csvLine(cells.map((each) => String(each ?? '')))).join('');
