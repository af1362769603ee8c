/** Finds the references to rows by the foreign keys and the unique keys of the schema, so that no table is forgotten when rows are merged, handed on or left behind. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './connect.ts';
import { ofAnyLength } from './data_loader.ts';

/** A unique key that a reference is part of. */
export interface UniqueKey {
  others: string[];
  /** The predicate of a partial key, as SQL with the names of its columns; null for all rows. */
  condition: string | null;
  /** Whether two nulls count as equal. */
  nulls_are_equal: boolean;
}

/** A column that names rows of another table. */
export interface Reference {
  table: string;
  column: string;
  /** The delete action of the foreign key. */
  on_delete: 'cascade' | 'set null' | 'refuse';
  /** Whether the column is part of the primary key: the row then only states that two rows belong together. */
  is_pair: boolean;
  /** A column of the table that decides which of several conflicting rows is kept: the first. */
  rank: 'position' | 'priority' | 'id' | null;
  /** The other columns of the table that a copy of a row is given. */
  others: string[];
  keys: UniqueKey[];
}

/** All columns that name rows of a table, in the order of their names. */
export async function referencesTo(db: Database, target: string): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select source.relname as table, attribute.attname as column,
           case key.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'refuse' end as on_delete,
           exists (select from pg_index where indrelid = key.conrelid and indisprimary and attribute.attnum = any(indkey)) as is_pair,
           (select attname from pg_attribute where attrelid = key.conrelid and not attisdropped and attname in ('position', 'priority', 'id')
             order by attname = 'id', attname limit 1) as rank,
           (select coalesce(json_agg(attname order by attnum), '[]') from pg_attribute
             where attrelid = key.conrelid and attnum > 0 and attnum <> attribute.attnum and not attisdropped and attgenerated = '' and attidentity = '') as others,
           coalesce(keys.keys, '[]') as keys
      from pg_constraint key
      join pg_class source on source.oid = key.conrelid
      join pg_attribute attribute on attribute.attrelid = key.conrelid and attribute.attnum = key.conkey[1]
      left join lateral (
        select json_agg(json_build_object('condition', pg_get_expr(indpred, indrelid), 'nulls_are_equal', indnullsnotdistinct, 'others', (
                 select coalesce(json_agg(attname), '[]') from pg_attribute
                  where attrelid = indrelid and attnum = any(columns) and attnum <> attribute.attnum))) as keys
          from pg_index, lateral (select (indkey::int2[])[0:indnkeyatts - 1] as columns) indexed
         where indrelid = key.conrelid and indisunique and attribute.attnum = any(columns)) keys on true
     where key.contype = 'f' and key.confrelid = ${target}::regclass and not source.relispartition
     order by 1, 2`.execute(db);
  return rows;
}

/** A predicate on rows of the table `moved`: there is no row that references `to` and would conflict with this one if it referenced `to`, too. */
export function isFree({ table, column, keys }: Reference, to: RawBuilder<unknown>): RawBuilder<SqlBool> {
  const taken = keys.map(({ others, condition, nulls_are_equal }) => {
    const equals = sql.raw(nulls_are_equal ? 'is not distinct from' : '=');
    const same = others.map((other) => sql`and ${sql.ref(`${table}.${other}`)} ${equals} ${sql.ref(`moved.${other}`)}`);
    // The names in a condition are those of the inner table, which hide those of the outer one.
    const among = condition === null ? sql`` : sql`and ${sql.raw(condition)}`;
    return sql`not exists (select from ${sql.table(table)} where ${sql.ref(`${table}.${column}`)} = ${to} ${sql.join(same, sql` `)} ${among})`;
  });
  return taken.length === 0 ? sql`true` : sql`(${sql.join(taken, sql` and `)})`;
}

export interface Replacement {
  /** Maps each old row to its replacement. */
  replaced: readonly { id: number; new_id: number }[];
  /** A predicate on rows of the table, by its own name; left out, all rows follow. */
  isInside?: RawBuilder<SqlBool> | undefined;
}

const idsOf = (ids: readonly number[]) => ofAnyLength(ids, 'bigint[]');

/**
 * Changes references to other rows. Where a unique key allows only one row, the existing one stays, and the conflicting row keeps its old reference.
 * @param tx a transaction in which no new references to the old rows can appear
 */
export async function replaceReferences(
  tx: Database,
  reference: Reference,
  { replaced, isInside = sql`true` }: Replacement,
): Promise<void> {
  const [table, column] = [sql.table(reference.table), sql.ref(`${reference.table}.${reference.column}`)];
  const name = sql.ref(reference.column);
  const pairs = sql`unnest(${idsOf(replaced.map(({ id }) => id))}, ${idsOf(replaced.map(({ new_id }) => new_id))}) replaced(old_id, new_id)`;
  const order = sql`order by ${reference.rank === null ? sql`` : sql`${sql.ref(reference.rank)},`} old_id`;
  if (reference.is_pair) {
    // Inserted and deleted instead of updated, so that the triggers for a new or removed association run.
    const others = reference.others.map((other) => sql.ref(other));
    await sql`
      insert into ${table} (${sql.join([name, ...others])})
      select ${sql.join([sql`new_id`, ...others])} from ${table} join ${pairs} on ${column} = old_id where ${isInside} ${order}
          on conflict do nothing`.execute(tx);
    const isOld = sql`${column} = any(${idsOf(replaced.map(({ id }) => id))})`;
    await sql`delete from ${table} where ${isOld} and ${isInside}`.execute(tx);
  } else if (reference.keys.length === 0) {
    await sql`update ${table} set ${name} = new_id from ${pairs} where ${column} = old_id and ${isInside}`.execute(tx);
  } else {
    const places = reference.keys.map(
      ({ others }, index) =>
        sql`row_number() over (partition by ${sql.join([sql`new_id`, ...others.map((other) => sql.ref(other))])} ${order}, id) as ${sql.ref(`place_${index}`)}`,
    );
    const isFirst = reference.keys.map((_, index) => sql`${sql.ref(`place_${index}`)} = 1`);
    await sql`
      update ${table} set ${name} = chosen.new_id
        from (select id, new_id, ${sql.join(places)} from (
                select moved.*, new_id, old_id from (select * from ${table} where ${isInside}) moved join ${pairs} on ${sql.ref(`moved.${reference.column}`)} = old_id
                 where ${isFree(reference, sql`new_id`)}) free) chosen
       where ${sql.ref(`${reference.table}.id`)} = chosen.id and ${sql.join(isFirst, sql` and `)}`.execute(tx);
  }
}

/**
 * Applies the delete action of the foreign keys to references, as if the referenced rows were deleted.
 * @param ids the referenced rows; left out, all
 * @param isInside a predicate on rows of the table, by its own name
 */
export async function releaseReferences(
  tx: Database,
  { table: name, column: column_name, on_delete }: Reference,
  ids: readonly number[] | undefined,
  isInside: RawBuilder<SqlBool>,
): Promise<void> {
  const [table, column] = [sql.table(name), sql.ref(column_name)];
  const isNamed =
    ids === undefined ? sql`${column} is not null` : sql`${sql.ref(`${name}.${column_name}`)} = any(${idsOf(ids)})`;
  const isMeant = sql`${isNamed} and ${isInside}`;
  await (on_delete === 'cascade'
    ? sql`delete from ${table} where ${isMeant}`
    : sql`update ${table} set ${column} = null where ${isMeant}`
  ).execute(tx);
}

/**
 * Gives a row copies of the rows of a table that reference another row, in their order.
 * @param references the columns of one table; a row that references it in several is copied once
 * @param isMeant a predicate on rows of the table, by its own name
 */
export async function copyReferences(
  tx: Database,
  references: readonly Reference[],
  { from, to, isMeant = sql`true` }: { from: number; to: number; isMeant?: RawBuilder<SqlBool> },
): Promise<void> {
  const [{ table, rank, others, column }] = references as readonly [Reference, ...Reference[]];
  const columns = references.map((reference) => reference.column);
  const kept = [column, ...others].filter((name) => !columns.includes(name)).map((name) => sql.ref(name));
  const replaced = columns.map(
    (name) => sql`case ${sql.ref(name)} when ${from} then ${to}::bigint else ${sql.ref(name)} end`,
  );
  const isOfRow = columns.map((name) => sql`${sql.ref(name)} = ${from}`);
  await sql`
    insert into ${sql.table(table)} (${sql.join([...columns.map((name) => sql.ref(name)), ...kept])})
    select ${sql.join([...replaced, ...kept])} from ${sql.table(table)}
     where (${sql.join(isOfRow, sql` or `)}) and ${isMeant} ${rank === null ? sql`` : sql`order by ${sql.ref(rank)}`}`.execute(
    tx,
  );
}
