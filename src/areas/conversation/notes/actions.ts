/** System notes, and copies of notes. */
import { sql } from 'kysely';
import { type Issuable, noteableColumns } from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import { isOn, referringTo, refersColumns } from './queries.ts';

export interface SystemNote {
  /** ISO 8601; now by default. */
  created_at?: string;
  /** The other issuable that the body names: users who may not read it do not see the note. */
  refers_to?: Issuable;
}

/**
 * Adds a system note about a change to an issuable.
 * @param tx the transaction of the change
 * @param author_id the user who made it
 * @param body the wording of docs/reference/notes.md, e.g. `changed the description`
 */
export async function addSystemNote(
  tx: Database,
  issuable: Issuable,
  author_id: number | null,
  body: string,
  { created_at, refers_to }: SystemNote = {},
): Promise<void> {
  const times = created_at === undefined ? {} : { created_at, updated_at: created_at };
  await tx
    .insertInto('notes')
    .values({
      ...noteableColumns(issuable),
      ...(refers_to ? referringTo(refers_to) : {}),
      author_id,
      body,
      system: true,
      ...times,
    })
    .execute();
}

/** The comment of the bot of security policies, which writes at most one on an issuable. */
export const botNoteOn = (db: Database, on: Issuable): Promise<{ id: number } | undefined> =>
  db
    .selectFrom('notes')
    .innerJoin('users', 'users.id', 'notes.author_id')
    .select('notes.id')
    .where(isOn(on))
    .where('users.user_type', '=', 'security_policy_bot')
    .orderBy('notes.id')
    .executeTakeFirst();

/**
 * Writes the comment of a bot, or edits it in place.
 * @param tx a transaction that has locked the issuable
 * @param note the comment, if there is one
 */
export async function setBotNote(
  tx: Database,
  on: Issuable,
  author_id: number,
  note: { id: number } | undefined,
  body: string,
): Promise<void> {
  if (note) await tx.updateTable('notes').set(stamped({ body })).where('id', '=', note.id).execute();
  else
    await tx
      .insertInto('notes')
      .values({ ...noteableColumns(on), author_id, body })
      .execute();
}

/** An issuable, and the body of a note on it. */
type NoteOn = readonly [on: Issuable, body: string];

/**
 * Adds a system note to each of two issuables, each with a reference to the other.
 * @param tx the transaction of the change
 * @param author_id the user who made it
 */
export async function noteOnBoth(
  tx: Database,
  author_id: number,
  [one, ofOther]: NoteOn,
  [other, ofOne]: NoteOn,
): Promise<void> {
  const note = { author_id, system: true };
  await tx
    .insertInto('notes')
    .values([
      { ...note, ...noteableColumns(one), ...referringTo(other), body: ofOther },
      { ...note, ...noteableColumns(other), ...referringTo(one), body: ofOne },
    ])
    .execute();
}

/**
 * Copies all notes with their authors, times, threads, reactions and mentions when an issue is moved or cloned. This creates no events or to-do items.
 * @param tx the transaction that copies the issue
 */
export async function copyNotes(tx: Database, from: Issuable, to: Issuable): Promise<void> {
  const on = sql.ref(to.kind.column);
  const refers = sql.join(refersColumns.map((column) => sql.ref(column)));
  await sql`
    with threads as materialized (
      select discussion_id, replace(gen_random_uuid()::text || left(gen_random_uuid()::text, 8), '-', '') as new_id
        from notes where ${isOn(from)} group by discussion_id
    ), copies as materialized (
      select ordered.*, nextval(pg_get_serial_sequence('notes', 'id')) as new_id, threads.new_id as new_discussion_id
        from (select * from notes where ${isOn(from)} order by id) ordered join threads using (discussion_id)
    ), written as (
      insert into notes (id, ${on}, discussion_id, starts_discussion, type, body, author_id, system, internal,
                         ${refers}, is_mention, created_at, updated_at)
      overriding system value
      select new_id, ${to.id}::bigint, new_discussion_id, starts_discussion, type, body, author_id, system, internal,
             ${refers}, is_mention, created_at, updated_at
        from copies order by new_id
    ), mentioned as (
      insert into user_mentions (user_id, ${on}, note_id)
      select user_id, ${to.id}::bigint, new_id from user_mentions join copies on copies.id = note_id
    )
    insert into award_emoji (name, user_id, note_id, created_at, updated_at)
    select name, user_id, new_id, award_emoji.created_at, award_emoji.updated_at from award_emoji join copies on copies.id = note_id`.execute(
    tx,
  );
}
