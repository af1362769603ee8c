/** Participants and subscribers of noteables. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Issuable, IssuableKind } from '../../../access/index.ts';

/** The join tables of its assignees and reviewers. */
const peopleOf = ({ assignees, reviewers }: IssuableKind) =>
  [assignees, reviewers].flatMap((table) => (table === undefined ? [] : [sql.table(table)]));

/**
 * A predicate on rows of the kind's table: the user is subscribed, explicitly or as a participant.
 * @param rows the table alias in the statement
 */
export function isSubscribed(
  kind: IssuableKind,
  user_id: number | RawBuilder<number>,
  rows: string = kind.table,
): RawBuilder<SqlBool> {
  const { column } = kind;
  const [id, of] = [sql.ref(`${rows}.id`), sql.ref(column)];
  return sql`coalesce(
    (select subscribed from subscriptions where user_id = ${user_id} and ${of} = ${id}),
    ${sql.ref(`${rows}.author_id`)} = ${user_id}
      ${sql.join(
        peopleOf(kind).map(
          (people) => sql`or exists (select from ${people} where ${of} = ${id} and user_id = ${user_id})`,
        ),
        sql` `,
      )}
      or exists (select from notes where ${of} = ${id} and author_id = ${user_id} and not system)
      or exists (select from user_mentions where ${of} = ${id} and user_id = ${user_id}),
    false)`;
}

/** The ids of the participants. Internal notes are ignored for readers who may not see them. */
export function participants({ kind, id }: Issuable): RawBuilder<unknown> {
  const { table, column } = kind;
  const of = sql.ref(column);
  return sql`
    select author_id from ${sql.table(table)} where id = ${id}
    ${sql.join(
      peopleOf(kind).map((people) => sql`union select user_id from ${people} where ${of} = ${id}`),
      sql` `,
    )}
    union select author_id from notes where ${of} = ${id} and not system and not internal
    union select user_id from user_mentions where ${of} = ${id} and (note_id is null
            or exists (select from notes where notes.id = note_id and not internal))`;
}
