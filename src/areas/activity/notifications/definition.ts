/** Shared parts of the mail descriptions that nouns provide. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isReaderOf, type Noteable, readsInternalNotesOn, rowOf } from '../../../access/index.ts';
import type { MailSubject, MailTarget } from '../../../services/index.ts';

/** The part shared by all nouns with comments: the row, and who may read it. */
export const readersOf = (noteable: Noteable): Pick<MailSubject, 'row' | 'is_in_group' | 'isReader'> => ({
  row: rowOf(noteable),
  is_in_group: noteable.kind.places === 'namespaces',
  isReader: (is_internal) => (is_internal ? readsInternalNotesOn(noteable) : isReaderOf(noteable)),
});

/**
 * The part shared by all nouns in projects without comments: the row, and who may read it.
 * @param table the table of the noun, e.g. `releases`
 * @param reads a predicate on rows of the table, of `projects` and of `users`
 */
export function inProject(
  table: string,
  id: number,
  reads: RawBuilder<SqlBool>,
): Pick<MailSubject, 'row' | 'is_in_group' | 'isReader'> {
  const rows = sql`${sql.table(table)} join projects on projects.id = ${sql.ref(`${table}.project_id`)}`;
  const isIts = sql<boolean>`${sql.ref(`${table}.id`)} = ${id}`;
  return {
    row: { rows, isIts },
    is_in_group: false,
    isReader: () => sql`exists (select from ${rows} where ${isIts} and ${reads})`,
  };
}

/** The participants of a noun in which nobody participates before reading about it. */
export const noParticipants = (): RawBuilder<unknown> => sql`select null::bigint where false`;

/** @param subject returns the subject by the id of the row */
export const mailTarget = (type: string, subject: (id: number) => MailSubject): MailTarget => ({
  types: [type],
  find: async (_db, id) => ({ subject: subject(id) }),
});
