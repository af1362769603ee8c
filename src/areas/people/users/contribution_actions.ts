/**
 * Contributions of users whose account ends. They follow from the schema, so that no table is forgotten: a foreign key to `users` without an action on deletion is a
 * contribution, which goes to the ghost user; rows with `cascade` belong to the user, and `set null` forgets them.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';

interface Contribution {
  table: string;
  column: string;
}

/** A column that names users, with the unique keys that it is part of. */
interface OwnedColumn extends Contribution {
  keys: UniqueKey[];
}

interface UniqueKey {
  others: string[];
  /** The rows that it holds for, as SQL; null: all. */
  condition: string | null;
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

/** Rows with an author are texts of the user, which a hard deletion deletes, except releases, which are of the project. Other columns only record who did something. */
const isText = ({ table, column }: Contribution) => column === 'author_id' && table !== 'releases';

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

/** Every column that names users, whatever their deletion does to it, except in some tables. */
async function ownedColumns(db: Database, except: readonly string[]): Promise<OwnedColumn[]> {
  const { rows } = await sql<OwnedColumn>`
    select source.relname as table, attribute.attname as column, coalesce(keys.keys, '[]') as keys
      from pg_constraint key
      join pg_class source on source.oid = key.conrelid
      join pg_attribute attribute on attribute.attrelid = key.conrelid and attribute.attnum = key.conkey[1]
      left join lateral (
        select json_agg(json_build_object('condition', pg_get_expr(indpred, indrelid), 'others', (
                 select coalesce(json_agg(attname), '[]') from pg_attribute
                  where attrelid = indrelid and attnum = any(columns) and attnum <> attribute.attnum))) as keys
          from pg_index, lateral (select (indkey::int2[])[0:indnkeyatts - 1] as columns) indexed
         where indrelid = key.conrelid and indisunique and attribute.attnum = any(columns)) keys on true
     where key.contype = 'f' and key.confrelid = 'users'::regclass and source.relname <> all(${ofAnyLength(except, 'text[]')})
     order by 1, 2`.execute(db);
  return rows;
}

/** A predicate on rows of `moved`: the table has no row that would be the same if it belonged to `to`. */
function isFree({ table, column, keys }: OwnedColumn, to: number): RawBuilder<boolean> {
  const taken = keys.map(({ others, condition }) => {
    const same = others.map((other) => sql`and ${sql.ref(`${table}.${other}`)} = ${sql.ref(`moved.${other}`)}`);
    // The names in a condition are those of the inner table, which hide those of the outer one.
    const among = condition === null ? sql`` : sql`and ${sql.raw(condition)}`;
    return sql`not exists (select from ${sql.table(table)} where ${sql.ref(`${table}.${column}`)} = ${to} ${sql.join(same, sql` `)} ${among})`;
  });
  return taken.length === 0 ? sql`true` : sql`(${sql.join(taken, sql` and `)})`;
}

export interface HandOver {
  from: number;
  to: number;
  /** Tables whose rows say what the account is, and end with it. */
  except: readonly string[];
}

/**
 * Gives everything that names a user to another one. What the other one has already, such as the same reaction, stays and goes with the account.
 * @param signal stops the work between two statements; finished statements stay in effect
 */
export async function handOver(db: Database, { from, to, except }: HandOver, signal?: AbortSignal): Promise<void> {
  for (const owned of await ownedColumns(db, except)) {
    const [table, column] = [sql.table(owned.table), sql.ref(owned.column)];
    for (;;) {
      signal?.throwIfAborted();
      const { numAffectedRows = 0n } = await sql`
        update ${table} set ${column} = ${to} where ctid = any(array(
          select moved.ctid from ${table} moved where ${sql.ref(`moved.${owned.column}`)} = ${from} and ${isFree(owned, to)} limit ${sql.lit(batch)}))`.execute(
        db,
      );
      if (numAffectedRows === 0n) break;
    }
  }
}

/**
 * How many rows name each of some users.
 * @param except tables that do not count
 * @returns counts by id; users that no row names are left out
 */
export async function countOwned(
  db: Database,
  ids: readonly number[],
  except: readonly string[],
): Promise<Map<number, number>> {
  const list = ofAnyLength(ids, 'bigint[]');
  const counts = (await ownedColumns(db, except)).map(
    ({ table, column }) =>
      sql`select ${sql.ref(column)} as id, count(*) as count from ${sql.table(table)} where ${sql.ref(column)} = any(${list}) group by 1`,
  );
  const { rows } = await sql<{ id: number; count: number }>`
    select id, sum(count)::integer as count from (${sql.join(counts, sql` union all `)}) counts group by id`.execute(
    db,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
