/** Comments in event lists. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  commitKind,
  type Reading,
  readsInternalNotesIn,
  rowsWithPlaces,
  storedKinds,
} from '../../../../access/index.ts';
import { isAmong, type Slots, statement } from '../../../../db/index.ts';
import type { EventComments } from '../../../activity/events/index.ts';
import { Note, presentNote } from '../present.ts';
import { isVisibleNote, noteRows } from '../queries.ts';

const kinds = storedKinds.filter(({ places }) => places === 'projects');

const rowsOf = (kind: (typeof kinds)[number]) =>
  sql`${rowsWithPlaces(kind)} where ${sql.ref(`${kind.table}.id`)} = ${sql.ref(`notes.${kind.column}`)}`;

/** A commit has no row; its comments refer to their project. */
const ofCommit = sql`projects where projects.id = notes.project_id and notes.commit_id is not null`;

function isReadable(caller: Reading): RawBuilder<SqlBool> {
  const mayReadInternal = readsInternalNotesIn(caller);
  const readable = [
    ...kinds.map((kind) => ({ rows: rowsOf(kind), isVisible: kind.isVisible(caller) })),
    { rows: ofCommit, isVisible: commitKind.isVisible(caller) },
  ].map(
    ({ rows, isVisible }) =>
      sql`coalesce((select ${isVisible} and (not notes.internal or ${mayReadInternal}) from ${rows}), false)`,
  );
  // As values, because PostgreSQL would hash all comments for `exists`.
  return sql`coalesce((
    select ${isVisibleNote(caller, true)} and (${sql.join(readable, sql` or `)}) from notes where notes.id = events.target_id), false)`;
}

const title = sql<string | null>`(${sql.join(
  kinds.map(
    ({ table, column }) => sql`
      select ${sql.ref(`${table}.title`)} from notes join ${sql.table(table)} on ${sql.ref(`${table}.id`)} = ${sql.ref(`notes.${column}`)}
       where notes.id = events.target_id`,
  ),
  sql` union all `,
)})`;

const notesById = statement(({ ids }: Slots<{ ids: readonly number[] }>, _shape, db) =>
  noteRows(db).where(isAmong('notes.id', ids, 'bigint[]')),
);

export const eventComments: EventComments = {
  types: ['Note', 'DiscussionNote', 'DiffNote'],
  schema: Note,
  isVisible: isReadable,
  title,
  present: async ({ db, url }, ids) => {
    const rows = await notesById(db, { ids });
    return new Map(rows.map((row) => [row.id, presentNote(url, row)]));
  },
};
