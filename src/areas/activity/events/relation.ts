/** How events are exported and imported with their targets (docs/reference/relations_export.md#events). */
import { sql } from 'kysely';
import { choice, type RecordKind, required, shown, somebody, time } from '../../../relations/index.ts';
import type { EventAction, EventTarget } from './actions.ts';

const actions: readonly EventAction[] = [
  'created',
  'updated',
  'closed',
  'reopened',
  'commented',
  'merged',
  'destroyed',
  'approved',
  'transferred',
];

/**
 * The events about a record.
 * @param targets the names of the record's noun in events
 */
export const eventsAbout = (...targets: readonly EventTarget[]): RecordKind => ({
  table: 'events',
  only: sql`events.target_type in (${sql.join(targets.map((target) => sql.lit(target)))})`,
  members: {
    action: required('action', choice(...actions)),
    author_id: somebody('author_id'),
    target_type: required('target_type', choice(...targets)),
    created_at: required('created_at', time),
    updated_at: shown(sql`null`),
  },
  always: { imported_from: 'gitlab_migration' },
  stays: { project_id: 'the project that the record is in' },
  derives: {
    columns: { project_id: 'bigint' },
    derive: (rows, { owner }) => {
      for (const { row } of rows) row.project_id = owner.kind === 'project' ? owner.id : null;
    },
  },
});
