/**
 * What a user leaves behind, told by the schema, so that no table can be forgotten: a foreign key to `users` without an action on deletion is a contribution,
 * which stays and belongs to the ghost afterwards; what cascades was his own, and `set null` forgets him.
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

interface Contribution {
  table: string;
  column: string;
}

/** Rows that one statement touches, so that none takes long. */
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

/** What has an author is his text, and goes with him where everything of his is to go. Others only note who was there first. */
const isText = ({ column }: Contribution) => column === 'author_id';

/**
 * Gives what a user has contributed to another.
 * @param hard whether what he has written is removed instead
 * @param signal ends the work between two statements; what is done stays done
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
