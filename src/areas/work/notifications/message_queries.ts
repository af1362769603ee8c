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
  user_id: number;
  reason: Reason | null;
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
  assignees: string[];
  reviewers: string[];
}

interface Note {
  id: number;
  body: string;
  discussion_id: string;
}

interface Person {
  name: string;
  username: string;
}

/** What a message is made of. */
export interface Parts {
  to: { name: string; address: string };
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
           ${namesIn(assignees, on)} as assignees, ${namesIn(reviewers, on)} as reviewers
      from ${rowsWithPlaces(on.kind)} where ${of('id')} = ${on.id}`.execute(db);
  return rows[0] && { ...rows[0], kind: on.kind };
}

/** The recipient's name and chosen address, if they may read the item and get mail at all. */
async function recipientOf(db: Database, on: Issuable, user_id: number, isInternal: boolean) {
  return db
    .selectFrom('users')
    .leftJoin('notification_settings as own', (join) =>
      join.onRef('own.user_id', '=', 'users.id').on('own.project_id', 'is', null).on('own.group_id', 'is', null),
    )
    .leftJoin('emails', 'emails.id', 'own.email_id')
    .select((q) => ['users.name', q.fn.coalesce('emails.email', 'users.email').as('address')])
    .where('users.id', '=', user_id)
    .where('users.state', '=', 'active')
    .where('users.confirmed_at', 'is not', null)
    .where(isInternal ? readsInternalNotesOn(on) : isReaderOf(on))
    .executeTakeFirst();
}

/** @returns undefined when there is nothing left to tell this person */
export async function partsFor(db: Database, asked: Asked): Promise<Parts | undefined> {
  const kind = issuableKinds.find(({ type }) => type === asked.kind);
  if (!kind) return undefined;
  const on = { kind, id: asked.item_id };
  const note = asked.note_id === null ? undefined : await noteWith(db, asked.note_id);
  if (asked.note_id !== null && !note) return undefined;
  const [item, to, actor] = await Promise.all([
    itemFor(db, on),
    recipientOf(db, on, asked.user_id, note?.internal ?? false),
    asked.actor_id === null ? undefined : personWith(db, asked.actor_id),
  ]);
  return item && to && { to, actor, item, note };
}

const personWith = (db: Database, id: number): Promise<Person | undefined> =>
  db.selectFrom('users').select(['name', 'username']).where('id', '=', id).executeTakeFirst();

const noteWith = (db: Database, id: number) =>
  db.selectFrom('notes').select(['id', 'body', 'discussion_id', 'internal']).where('id', '=', id).executeTakeFirst();
