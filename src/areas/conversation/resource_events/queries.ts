/** Queries for resource events. */
import { type RawBuilder, sql } from 'kysely';
import type { Issuable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** An event with its user, and the columns of its kind. */
export interface EventRow {
  id: number;
  user_id: number | null;
  username: string;
  name: string;
  user_state: string;
  public_email: string;
  avatar: string | null;
  created_at: string;
  action: 'add' | 'remove';
  /** The state of the issuable. */
  state: 'opened' | 'closed' | 'reopened' | 'merged';
  label_id: number | null;
  milestone_id: number | null;
  iteration_id: number | null;
  weight: number | null;
}

/** The columns of each kind of event besides user and time. */
const columnsByKind = {
  label: ['label_id', 'action'],
  state: ['state'],
  milestone: ['milestone_id', 'action', 'state'],
  weight: ['weight'],
  iteration: ['iteration_id', 'action'],
};
export type EventKind = keyof typeof columnsByKind;

/** The events of one kind on an issuable, in the order of recording. */
export function eventsOn(db: Database, kind: EventKind, { kind: { column }, id }: Issuable) {
  const columns = sql.join(columnsByKind[kind].map((name) => sql.ref(`events.${name}`)));
  const events: RawBuilder<EventRow> = sql`(
    select events.id, events.user_id, events.created_at, ${columns}, username::text as username, users.name, users.state as user_state, public_email, avatar
      from ${sql.table(`resource_${kind}_events`)} events left join users on users.id = events.user_id
     where ${sql.ref(`events.${column}`)} = ${id})`;
  return db.selectFrom(events.as<'event'>('event')).selectAll().orderBy('event.id');
}
