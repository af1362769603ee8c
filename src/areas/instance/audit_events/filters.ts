/** The filters of lists of audit events (docs/reference/audit_events.md#reading). */
import { sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { Id, leftOutIfBlank, optional, type Rule, Timestamp } from '../../../http/index.ts';
import { keysetPaging } from '../../../lists/index.ts';
import { entityTypes } from './rules.ts';

/** The parameters of all lists. */
export const auditFilters = {
  ...keysetPaging,
  order_by: optional(Type.Enum(['id'], { description: 'The newest events come first in any case' })),
  created_after: optional(leftOutIfBlank(Timestamp)),
  created_before: optional(leftOutIfBlank(Timestamp)),
  author_id: optional(Id),
  author_username: optional(leftOutIfBlank(Type.String())),
  event_name: optional(leftOutIfBlank(Type.String())),
};

/** The parameters of the list of all events of the server. */
export const entityFilters = {
  entity_type: optional(leftOutIfBlank(Type.Enum([...entityTypes]))),
  entity_id: optional(Id),
};

export const entityIdNeedsType: Rule = (given) =>
  given.has('entity_id') && !given.has('entity_type') ? 'entity_type is missing' : undefined;

/** Replies have milliseconds, so the time of an event includes the whole of its millisecond. */
const atOrBefore = (moment: string) => sql<string>`${moment}::timestamptz + interval '1 millisecond'`;

export type AuditFilters = Static<TObject<typeof auditFilters>> & Partial<Static<TObject<typeof entityFilters>>>;

/**
 * The events that the filters select, newest first.
 * @param whose the author whose events alone may be seen
 */
export function auditEventsFor(db: Database, given: AuditFilters, whose?: number) {
  const { created_after, created_before, author_id, author_username, event_name, entity_type, entity_id } = given;
  return db
    .selectFrom('audit_events')
    .selectAll()
    .$if(created_after !== undefined, (query) => query.where('created_at', '>=', created_after!))
    .$if(created_before !== undefined, (query) => query.where('created_at', '<', atOrBefore(created_before!)))
    .$if(author_id !== undefined, (query) => query.where('author_id', '=', author_id!))
    .$if(author_username !== undefined, (query) =>
      query.where('author_id', '=', (from) =>
        from.selectFrom('users').select('id').where('username', '=', author_username!),
      ),
    )
    .$if(whose !== undefined, (query) => query.where('author_id', '=', whose!))
    .$if(event_name !== undefined, (query) => query.where('event_name', '=', event_name!))
    .$if(entity_type !== undefined, (query) => query.where('entity_type', '=', entity_type!))
    .$if(entity_id !== undefined, (query) => query.where('entity_id', '=', entity_id!))
    .orderBy('id', 'desc');
}
