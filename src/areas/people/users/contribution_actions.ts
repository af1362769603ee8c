/**
 * Contributions of users whose account ends. They are derived from the schema, so that no table is forgotten: a foreign
 * key to `users` without an action on deletion is a contribution, which goes to the ghost user; rows with `cascade`
 * belong to the user, and `set null` clears the reference.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Database, isFree, ofAnyLength, type Reference, referencesTo } from '../../../db/index.ts';

/** Rows per statement, so that no statement takes long. */
const batch = 5000;

/**
 * Rows with an author are texts of the user, which a hard deletion deletes, except releases, which belong to the
 * project. Other columns only record which user did something.
 */
const isText = ({ table, column }: Reference) => column === 'author_id' && table !== 'releases';

/**
 * Moves the contributions of a user to another user. Where a unique key allows one row, and the other user has it, the row is deleted.
 * @param hard whether to delete the user's texts instead
 * @param signal stops the work between two statements; finished statements stay in effect
 */
export async function moveContributions(
  db: Database,
  { from, to, hard }: { from: number; to: number; hard: boolean },
  signal?: AbortSignal,
): Promise<void> {
  for (const contribution of await referencesTo(db, 'users')) {
    if (contribution.on_delete !== 'refuse') continue;
    const [table, column] = [sql.table(contribution.table), sql.ref(contribution.column)];
    const isDeleted = hard && isText(contribution);
    if (!isDeleted) await inBatches(db, contribution, { from, to }, sql`update ${table} set ${column} = ${to}`, signal);
    // Of several deleted users who did the same, such as answering a deployment, one stands for all.
    if (isDeleted || contribution.keys.length > 0)
      await inBatches(db, contribution, { from, to: undefined }, sql`delete from ${table}`, signal);
  }
}

/**
 * Changes all rows that refer to a user.
 * @param to if given, only rows that this user does not have already
 * @param change a statement without its condition
 */
async function inBatches(
  db: Database,
  reference: Reference,
  { from, to }: { from: number; to: number | undefined },
  change: RawBuilder<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const isMeant = to === undefined ? sql`true` : isFree(reference, sql`${to}`);
  for (;;) {
    signal?.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      ${change} where ctid = any(array(
        select moved.ctid from ${sql.table(reference.table)} moved
         where ${sql.ref(`moved.${reference.column}`)} = ${from} and ${isMeant} limit ${sql.lit(batch)}))`.execute(db);
    if (numAffectedRows === 0n) return;
  }
}

/** Every column that refers to users, whatever its action on deletion, except in the given tables. */
const ownedColumns = async (db: Database, except: readonly string[]): Promise<Reference[]> =>
  (await referencesTo(db, 'users')).filter(({ table }) => !except.includes(table));

export interface HandOver {
  from: number;
  to: number;
  /** Tables with attributes of the account itself, which are deleted with it. */
  except: readonly string[];
}

/**
 * Moves all references from one user to another. Rows that the other user already has, such as the same reaction, are
 * not moved and are deleted with the account.
 * @param signal stops the work between two statements; finished statements stay in effect
 */
export async function handOver(db: Database, { from, to, except }: HandOver, signal?: AbortSignal): Promise<void> {
  for (const owned of await ownedColumns(db, except)) {
    const change = sql`update ${sql.table(owned.table)} set ${sql.ref(owned.column)} = ${to}`;
    await inBatches(db, owned, { from, to }, change, signal);
  }
}

/**
 * Counts the rows that refer to each of the given users.
 * @param except tables that do not count
 * @returns counts by id, without users that have none
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
