/** The numbers of comments on items. Internal comments count for callers who may read them. */
import { type RawBuilder, sql } from 'kysely';
import { type IssuableKind, type MaybeCaller, readsInternalNotesIn } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';

/**
 * The number of internal comments on a row of the kind.
 * @param rows the table alias in the statement
 */
export const internalComments = ({ column }: IssuableKind, rows: string): RawBuilder<number> => sql`
  (select count(*) from notes where ${sql.ref(`notes.${column}`)} = ${sql.ref(`${rows}.id`)} and notes.internal and not notes.system)`;

interface Counted {
  id: number;
  project_id: number;
  /** Includes internal ones. */
  user_notes_count: number;
  internal_notes_count: number;
}

/** The number of comments that the caller may read, by the ID of the row, for the rows with internal comments. */
export async function commentCounts(
  db: Database,
  caller: MaybeCaller,
  rows: readonly Counted[],
): Promise<ReadonlyMap<number, number>> {
  const asked = rows.filter(({ internal_notes_count }) => internal_notes_count > 0);
  if (asked.length === 0) return new Map();
  const inside = await db
    .selectFrom('projects')
    .select('id')
    .where(isAmong('id', [...new Set(asked.map(({ project_id }) => project_id))], 'bigint[]'))
    .where(readsInternalNotesIn(caller))
    .execute();
  const known = new Set(inside.map(({ id }) => id));
  return new Map(
    asked.map(({ id, project_id, user_notes_count, internal_notes_count }) => [
      id,
      known.has(project_id) ? user_notes_count : user_notes_count - internal_notes_count,
    ]),
  );
}
