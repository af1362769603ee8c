/** The content of a message, and the recipients who may see it now. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { MailItem, MailNote, MailPlace, MailSubject } from '../../../services/index.ts';
import type { Reason } from './rules.ts';
import { type Reading, subjectOf, type Target } from './subject_queries.ts';

/** A notification as stored in its row. */
export interface StoredNotification extends Target {
  id: string;
  event: string;
  actor_id: number | null;
}

/** An item in its project or group. */
export interface Item extends MailPlace, MailItem {
  subject: MailSubject;
}

/** The number of recipients read at a time: whether they may be notified is checked again for each batch. */
const batch = 25;

/** A recipient whose message has not been sent. */
export interface Addressee {
  user_id: number;
  reason: Reason | null;
  name: string;
  address: string;
  /** The id of the row of the address. */
  email_id: number | null;
  /** Whether they may still read the subject, and receive mail at all. */
  is_told: boolean;
}

interface Person {
  name: string;
  username: string;
}

/** The parts of a message. */
export interface Parts {
  /** Undefined if no user performed the action. */
  actor: Person | undefined;
  item: Item;
  note: MailNote | undefined;
}

/**
 * The next recipients still to be notified, by their ids. Mail goes to the address chosen for the nearest group,
 * otherwise to the global one, otherwise to the primary one; no mail is sent to an address that the mail server
 * refuses.
 * @param after the last recipient returned
 */
export async function addresseesAfter(
  db: Database,
  notification_id: string,
  after: number,
  { item, note }: Parts,
): Promise<Addressee[]> {
  const { rows } = await sql<Addressee>`
    select users.id as user_id, recipients.reason, users.name, coalesce(chosen.email, users.email) as address, chosen.id as email_id,
           users.state = 'active' and users.confirmed_at is not null and chosen.refused_at is null
             and ${item.subject.isReader(note?.internal ?? false)} as is_told
      from notification_recipients recipients join users on users.id = recipients.user_id
      left join lateral (
        select emails.id, emails.email, emails.refused_at
          from emails left join notification_settings own on own.email_id = emails.id and own.user_id = users.id
         where emails.user_id = users.id and (emails.is_primary or own.id is not null)
           and (own.group_id is null or own.group_id = any(${item.groups}::bigint[]))
         order by array_position(${item.groups}::bigint[], own.group_id) desc nulls last, own.id nulls last limit 1
      ) chosen on true
     where recipients.notification_id = ${notification_id} and recipients.user_id > ${after}
     order by recipients.user_id limit ${batch}`.execute(db);
  return rows;
}

async function placeOf(
  db: Database,
  { row: { rows, isIts }, is_in_group }: MailSubject,
): Promise<MailPlace | undefined> {
  const [place, group_id, storage] = is_in_group
    ? ['namespaces', sql`namespaces.id`, sql`null`]
    : ['projects', sql`projects.namespace_id`, sql`projects.storage`];
  const of = (column: string) => sql.ref(`${place}.${column}`);
  const found = await sql<MailPlace>`
    select ${of('id')} as place_id, ${of('name')} as place_name, ${of('full_path')} as full_path, ${storage} as storage,
           (select traversal_ids from namespaces groups where groups.id = ${group_id}) as groups
      from ${rows} where ${isIts}`.execute(db);
  return found.rows[0];
}

/** @returns undefined if it was deleted */
async function itemOf(services: Reading, subject: MailSubject): Promise<Item | undefined> {
  const place = await placeOf(services.db, subject);
  const item = place && (await subject.describe(services, place));
  return item && { ...place, ...item, subject };
}

/** @returns undefined if there is nothing left to report */
export async function partsFor(services: Reading, asked: StoredNotification): Promise<Parts | undefined> {
  const about = await subjectOf(services, asked);
  if (!about) return undefined;
  const [item, actor] = await Promise.all([
    itemOf(services, about.subject),
    asked.actor_id === null ? undefined : personWith(services.db, asked.actor_id),
  ]);
  return item && { actor, item, note: about.note };
}

const personWith = (db: Database, id: number): Promise<Person | undefined> =>
  db.selectFrom('users').select(['name', 'username']).where('id', '=', id).executeTakeFirst();
