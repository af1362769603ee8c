/** What a message tells, as its recipient may see it now. */
import { sql } from 'kysely';
import {
  type Issuable,
  type IssuableKind,
  isReaderOf,
  issuableKinds,
  readsInternalNotesOn,
  rowsWithPlaces,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Reason } from './rules.ts';

export interface Asked {
  id: string;
  event: string;
  /** The name of the kind, e.g. `MergeRequest`. */
  kind: string;
  item_id: number;
  note_id: number | null;
  actor_id: number | null;
}

/** So many are read at a time: who may be told is looked up again for the next ones. */
const batch = 25;

/** A recipient whose message has not been sent. */
export interface Addressee {
  user_id: number;
  reason: Reason | null;
  name: string;
  address: string;
  /** The row of the address. */
  email_id: number | null;
  /** Whether they may still read what they are told of, and get mail at all. */
  is_told: boolean;
}

/** An item with its project or group. */
export interface Item {
  kind: IssuableKind;
  id: number;
  iid: number;
  title: string;
  description: string | null;
  state: string;
  /** Null for kinds that cannot be. */
  confidential: boolean | null;
  place_id: number;
  place_name: string;
  full_path: string;
  /** The group that it is in, after those around that one. */
  groups: number[];
  assignees: string[];
  reviewers: string[];
}

interface Note {
  id: number;
  body: string;
  discussion_id: string;
  internal: boolean;
}

interface Person {
  name: string;
  username: string;
}

/** What a message is made of. */
export interface Parts {
  /** Undefined when nobody did anything. */
  actor: Person | undefined;
  item: Item;
  note: Note | undefined;
}

const namesIn = (table: string | undefined, { kind, id }: Issuable) =>
  table === undefined
    ? sql<string[]>`array[]::text[]`
    : sql<string[]>`array(select name from ${sql.table(table)} people join users on users.id = people.user_id
        where people.${sql.ref(kind.column)} = ${id} order by users.id)`;

async function itemFor(db: Database, on: Issuable): Promise<Item | undefined> {
  const { table, places, assignees, reviewers } = on.kind;
  const of = (column: string) => sql.ref(`${table}.${column}`);
  const confidential = table === 'merge_requests' ? sql`null::boolean` : of('confidential');
  const { rows } = await sql<Omit<Item, 'kind'>>`
    select ${sql.join(['id', 'iid', 'title', 'description', 'state'].map(of))}, ${confidential} as confidential,
           ${sql.ref(`${places}.id`)} as place_id, ${sql.ref(`${places}.name`)} as place_name, ${sql.ref(`${places}.full_path`)} as full_path,
           (select traversal_ids from namespaces groups where groups.id = ${sql.ref(places === 'projects' ? 'projects.namespace_id' : 'namespaces.id')}) as groups,
           ${namesIn(assignees, on)} as assignees, ${namesIn(reviewers, on)} as reviewers
      from ${rowsWithPlaces(on.kind)} where ${of('id')} = ${on.id}`.execute(db);
  return rows[0] && { ...rows[0], kind: on.kind };
}

/**
 * The next of those who are still to be told, by their ids. Mail goes to the address that they have chosen for the nearest group, otherwise to that for everything, otherwise to the primary one; to
 * none while the mail server refuses that.
 * @param after the last one who was returned
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
             and ${note?.internal ? readsInternalNotesOn(item) : isReaderOf(item)} as is_told
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

/** @returns undefined when there is nothing left to tell */
export async function partsFor(db: Database, asked: Asked): Promise<Parts | undefined> {
  const kind = issuableKinds.find(({ type }) => type === asked.kind);
  if (!kind) return undefined;
  const [note, item, actor] = await Promise.all([
    asked.note_id === null ? undefined : noteWith(db, asked.note_id),
    itemFor(db, { kind, id: asked.item_id }),
    asked.actor_id === null ? undefined : personWith(db, asked.actor_id),
  ]);
  return item && (asked.note_id === null || note) && { actor, item, note };
}

const personWith = (db: Database, id: number): Promise<Person | undefined> =>
  db.selectFrom('users').select(['name', 'username']).where('id', '=', id).executeTakeFirst();

const noteWith = (db: Database, id: number) =>
  db.selectFrom('notes').select(['id', 'body', 'discussion_id', 'internal']).where('id', '=', id).executeTakeFirst();
