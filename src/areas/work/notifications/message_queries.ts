/** What a message tells, and the recipients who may see it now. */
import { sql } from 'kysely';
import { commitKind, issuableKinds, type Noteable, noteableOf, storedKinds } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { type Item, itemOf } from './item_queries.ts';
import type { Reason } from './rules.ts';
import { isToldOf, type Subject } from './subject_queries.ts';

/** What a notification tells of. */
export interface Asked {
  id: string;
  event: string;
  /** As events name it, e.g. `MergeRequest` or `DiffNote`. */
  target_type: string;
  target_id: number;
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

export interface Note {
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
             and ${isToldOf(item.subject, note?.internal ?? false)} as is_told
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

/** The comment, if it is one, and what a notification is about; undefined when that is gone. */
export async function subjectOf(
  db: Database,
  { target_type, target_id }: Pick<Asked, 'target_type' | 'target_id'>,
): Promise<{ subject: Subject; note: Note | undefined } | undefined> {
  if (target_type === 'TrackedError') return { subject: { error_id: target_id }, note: undefined };
  if (target_type === 'Vulnerability') return { subject: { vulnerability_id: target_id }, note: undefined };
  if (target_type === 'Project') return { subject: { project_id: target_id }, note: undefined };
  if (!target_type.endsWith('Note')) {
    const kind = issuableKinds.find(({ type }) => type === target_type);
    return kind && { subject: { kind, id: target_id }, note: undefined };
  }
  const row = await db
    .selectFrom('notes')
    .select(['id', 'body', 'discussion_id', 'internal'])
    .select(['issue_id', 'epic_id', 'merge_request_id', 'snippet_id', 'project_id', 'commit_id'])
    .where('id', '=', target_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const subject: Noteable = noteableOf(storedKinds, row) ?? {
    kind: commitKind,
    project_id: row.project_id!,
    sha: row.commit_id!,
  };
  return { subject, note: row };
}

/** @returns undefined when there is nothing left to tell */
export async function partsFor(services: Pick<JobServices, 'db' | 'storages'>, asked: Asked): Promise<Parts | undefined> {
  const { db } = services;
  const about = await subjectOf(db, asked);
  if (!about) return undefined;
  const [item, actor] = await Promise.all([
    itemOf(services, about.subject),
    asked.actor_id === null ? undefined : personWith(db, asked.actor_id),
  ]);
  return item && { actor, item, note: about.note };
}

const personWith = (db: Database, id: number): Promise<Person | undefined> =>
  db.selectFrom('users').select(['name', 'username']).where('id', '=', id).executeTakeFirst();
