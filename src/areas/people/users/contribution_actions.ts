/**
 * Contributions of deleted users. They follow from the schema, so that no table is forgotten: a foreign key to `users` without an action on deletion is a
 * contribution, which goes to the ghost user; rows with `cascade` belong to the user, and `set null` forgets them.
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

interface Contribution {
  table: string;
  column: string;
}

/** Rows per statement, so that no statement takes long. */
const batch = 5000;

async function contributions(db: Database): Promise<Contribution[]> {
  const { rows } = await sql<Contribution>`
    select source.relname as table, attribute.attname as column
      from pg_constraint key
      join pg_class source on source.oid = key.conrelid
      join pg_attribute attribute on attribute.attrelid = key.conrelid and attribute.attnum = key.conkey[1]
     where key.contype = 'f' and key.confrelid = 'users'::regclass and key.confdeltype in ('a', 'r')
     order by 1, 2`.execute(db);
  return rows;
}

/** Rows with an author are texts of the user, which a hard deletion deletes. Other columns only record who did something. */
const isText = ({ column }: Contribution) => column === 'author_id';

/**
 * Moves the contributions of a user to another user.
 * @param hard whether to delete the user's texts instead
 * @param signal stops the work between two statements; finished statements stay in effect
 */
export async function moveContributions(
  db: Database,
  { from, to, hard }: { from: number; to: number; hard: boolean },
  signal?: AbortSignal,
): Promise<void> {
  for (const contribution of await contributions(db)) {
    const [table, column] = [sql.table(contribution.table), sql.ref(contribution.column)];
    const some = sql`ctid = any(array(select ctid from ${table} where ${column} = ${from} limit ${sql.lit(batch)}))`;
    for (;;) {
      signal?.throwIfAborted();
      const { numAffectedRows = 0n } =
        hard && isText(contribution)
          ? await sql`delete from ${table} where ${some}`.execute(db)
          : await sql`update ${table} set ${column} = ${to} where ${some}`.execute(db);
      if (numAffectedRows === 0n) break;
    }
  }
}
