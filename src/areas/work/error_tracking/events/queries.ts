/** Queries for the events of errors. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, isAmong } from '../../../../db/index.ts';
import { idIn, type Page } from '../../../../http/index.ts';
import { type Paging, paginate } from '../../../../lists/index.ts';
import type { JsonObject } from '../payload/rules.ts';
import { eventId } from './rules.ts';

/** The user who encountered an error, as sent by the application. */
export interface EventUser {
  id: string | null;
  username: string | null;
  email: string | null;
  ip_address: string | null;
  name: string | null;
}

export interface EventRow {
  id: number;
  /** 32 hexadecimal digits. */
  event_id: string;
  error_id: number;
  occurred_at: string;
  received_at: string;
  environment: string;
  level: string;
  description: string;
  release: string | null;
  user: EventUser | null;
}

export interface UserReport {
  name: string | null;
  email: string | null;
  comments: string | null;
  created_at: string | null;
}

export interface WholeEvent extends EventRow {
  payload: JsonObject;
  user_report: UserReport | null;
}

const maximumUserField = 255;
const userField = (name: keyof EventUser) => sql`left(sent ->> ${sql.lit(name)}, ${sql.lit(maximumUserField)})`;

/** Extracts the fields from the payload without parsing it into a tree; `offset 0` prevents one read per field. */
const user = sql`(
  select case when json_typeof(sent) = 'object' then jsonb_build_object(
           'id', ${userField('id')}, 'username', ${userField('username')}, 'email', ${userField('email')},
           'ip_address', ${userField('ip_address')}, 'name', ${userField('name')}) end
    from (select shown.payload::json -> 'user' as sent offset 0) given)`;

const columns = sql`
  shown.id, replace(shown.event_id::text, '-', '') as event_id, shown.error_id, shown.occurred_at, shown.received_at, shown.environment,
  shown.level, shown.description, shown.release, ${user} as "user"`;

/** In stored form: payloads of a megabyte are parsed one at a time. */
type StoredEvent = Omit<WholeEvent, 'payload'> & { payload: string };

export interface Slice {
  per_page: number;
  offset: number;
}

const wholeColumns = sql`${columns}, shown.payload, shown.user_report`;

/** Columns extracted from payloads are computed for the shown events only. */
async function slice<Row>(db: Database, error: { id: number }, { per_page, offset }: Slice, list: RawBuilder<unknown>) {
  const { rows } = await sql<Row>`
    select ${list} from (
      select * from error_tracking_events where error_id = ${error.id}
       order by occurred_at desc, id desc limit ${per_page + 1} offset ${offset}
    ) shown order by shown.occurred_at desc, shown.id desc`.execute(db);
  return { items: rows.slice(0, per_page), has_more: rows.length > per_page };
}

/** Some events of an error, newest first, and whether there are more. */
export const eventsFrom = (db: Database, error: { id: number }, at: Slice) => slice<EventRow>(db, error, at, columns);

/** The same with their payloads. */
export const storedEventsFrom = (db: Database, error: { id: number }, at: Slice) =>
  slice<StoredEvent>(db, error, at, wholeColumns);

export const parsed = (event: StoredEvent): WholeEvent => ({
  ...event,
  payload: JSON.parse(event.payload) as JsonObject,
});

/** A page of the events of an error, newest first. */
export async function eventPage(db: Database, error: { id: number }, input: Paging): Promise<Page<EventRow>> {
  const events = db.selectFrom('error_tracking_events').select('id').where('error_id', '=', error.id);
  const page = await paginate(db, events.orderBy('occurred_at', 'desc').orderBy('id', 'desc'), input);
  const ids = page.items.map(({ id }) => id);
  const { rows } = await sql<EventRow>`
    select ${columns} from error_tracking_events shown where ${isAmong('id', ids, 'bigint[]')}
     order by shown.occurred_at desc, shown.id desc`.execute(db);
  return { ...page, items: rows };
}

/** @returns the condition for the event named in a path, undefined if the name is invalid */
function named(error: { id: number; project_id: number }, name: string): RawBuilder<unknown> | undefined {
  const ofError = sql`error_id = ${error.id}`;
  if (name === 'latest') return sql`${ofError} order by occurred_at desc, id desc`;
  if (name === 'oldest') return sql`${ofError} order by occurred_at, id`;
  const event_id = eventId(name);
  if (event_id !== undefined)
    return sql`${ofError} and project_id = ${error.project_id} and event_id = ${event_id}::uuid`;
  const id = idIn(name);
  return id === undefined ? undefined : sql`${ofError} and id = ${id}`;
}

/**
 * An event with its payload.
 * @param name `latest`, `oldest`, our id, or the sender's id: 32 hexadecimal digits, with or without dashes
 */
export async function eventNamed(
  db: Database,
  error: { id: number; project_id: number },
  name: string,
): Promise<WholeEvent | undefined> {
  const where = named(error, name);
  if (where === undefined) return undefined;
  const { rows } = await sql<StoredEvent>`
    select ${wholeColumns} from (select * from error_tracking_events where ${where} limit 1) shown`.execute(db);
  const [row] = rows;
  return row && parsed(row);
}
