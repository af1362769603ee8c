/** The effects of mentioning users and issuables in a text. */
import { sql } from 'kysely';
import { type Issuable, isAbout, isFollowed, isIssuable, type Noteable } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { type Reference, referencesIn } from '../../../markdown/index.ts';
import { addNotification } from '../../activity/notifications/index.ts';
import { addTodos } from '../../activity/todos/index.ts';
import { noteCrossReferences } from './reference_actions.ts';

/** The maximum number of users mentioned in one text. */
const maximumPeople = 100;

export interface MentioningText {
  /** The author. */
  actor: Caller;
  /** The noteable that the text belongs to, as a note or as its description. */
  noteable: Noteable;
  note_id?: number;
  /** Whether it is an internal note. */
  internal?: boolean;
  text: string | null;
  /** Whether the text was edited. For a new one, the notification about the text covers the mentioned users. */
  is_edited?: boolean;
  /** Our external address without a trailing slash. */
  url: string;
}

/** The mentions at the start of a text, which address it to these users. */
function addressed(text: string, people: readonly Reference[]): Set<string> {
  const names = new Set<string>();
  let at = 0;
  for (const { start, end, value } of people) {
    // Mentions may be separated by spaces, commas and `and`.
    if (!/^(?:and\b|[\s,])*$/.test(text.slice(at, Math.min(start, at + 20))) || start - at > 20) break;
    names.add(value.toLowerCase());
    at = end;
  }
  return names;
}

/**
 * Replaces the rows of user_mentions with those of a text.
 * @returns the ids of users who were not mentioned in it before, by name in lower case
 */
async function keepMentions(
  tx: Database,
  { noteable, note_id }: MentioningText,
  names: readonly string[],
): Promise<Map<string, number>> {
  const note = note_id ?? null;
  // A commit has no description, so the mentions on it are those in its notes.
  const [column, value, isIts] =
    'id' in noteable
      ? [
          sql`, ${sql.ref(noteable.kind.column)}`,
          sql`, ${noteable.id}::bigint`,
          sql`${isAbout('user_mentions', noteable)} and`,
        ]
      : [sql``, sql``, sql``];
  const { rows } = await sql<{ username: string; id: number }>`
    with named as materialized (
      select id, lower(username::text) as username from users
       where username = any(${ofAnyLength(names, 'citext[]')}) and user_type in ('human', 'service_account')
    ), forgotten as (
      delete from user_mentions where ${isIts} ${note === null ? sql`note_id is null` : sql`note_id = ${note}`}
         and user_id not in (select id from named)
    ), added as (
      insert into user_mentions (user_id, note_id${column})
      select id, ${note}::bigint${value} from named order by id
      on conflict on constraint user_mentions_key do nothing returning user_id
    )
    select named.username, named.id from named join added on added.user_id = named.id`.execute(tx);
  return new Map(rows.map(({ username, id }) => [username, id]));
}

async function tellOfMention(
  tx: Database,
  { actor, note_id }: MentioningText,
  { kind, id }: Issuable,
  user_ids: readonly number[],
): Promise<void> {
  if (user_ids.length === 0) return;
  const target =
    note_id === undefined ? { target_type: kind.type, target_id: id } : { target_type: 'Note', target_id: note_id };
  await addNotification(tx, { event: 'mention', ...target, actor_id: actor.id, user_ids });
}

/**
 * Records the references of a new or changed description or note: the mentioned users, to-do items for those mentioned for the first time, and `mentioned
 * in …` on the issuables, once per source.
 * @param tx the transaction in which the text was written
 */
export async function noteMentions(tx: Database, mentioning: MentioningText): Promise<void> {
  const { actor, noteable, note_id, internal } = mentioning;
  const text = mentioning.text ?? '';
  const references = await referencesIn(text, mentioning.url);
  const people = references.filter(({ kind }) => kind === 'user');
  const names = [...new Set(people.map(({ value }) => value.toLowerCase()))].slice(0, maximumPeople);
  const added = await keepMentions(tx, mentioning, names);
  if (mentioning.is_edited && isIssuable(noteable)) await tellOfMention(tx, mentioning, noteable, [...added.values()]);
  // Targets without to-do items have no `mentioned in …` either.
  if (!isFollowed(noteable)) return;
  const direct = addressed(text, people);
  for (const action of ['directly_addressed', 'mentioned'] as const) {
    const user_ids = [...added].flatMap(([name, id]) =>
      direct.has(name) === (action === 'directly_addressed') && id !== actor.id ? id : [],
    );
    if (user_ids.length > 0)
      await addTodos(tx, { user_ids, author_id: actor.id, action, target: noteable, note_id, is_internal: internal });
  }
  // No `mentioned in …` for internal notes: readers of this issue who may not read them could not find the mention.
  if (!internal) await noteCrossReferences(tx, { actor, source: noteable, references });
}
