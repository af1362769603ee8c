/** Finds rows that refer to rows that do not exist, such as assignments to users who are gone. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { counted } from '../texts/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** A foreign key. */
interface Reference {
  table: string;
  columns: string[];
  to_table: string;
  to_columns: string[];
}

/** References that have no foreign key, because checking it row by row would take too long (docs/decisions/0056-dependencies-have-no-foreign-keys.md). */
const unenforced: readonly Reference[] = [
  {
    table: 'dependencies',
    columns: ['project_id', 'file_id'],
    to_table: 'dependency_files',
    to_columns: ['project_id', 'id'],
  },
  { table: 'dependencies', columns: ['package_version_id'], to_table: 'package_versions', to_columns: ['id'] },
];

/**
 * Checks every foreign key again, and references without one. PostgreSQL refuses such rows when they are written, but not what damage to the disk, or changes with
 * the triggers turned off, leave behind.
 */
export async function* checkReferences({ db, signal }: Pick<CheckOptions, 'db' | 'signal'>): AsyncGenerator<Finding> {
  for (const reference of [...(await foreignKeys(db)), ...unenforced]) {
    signal.throwIfAborted();
    const { count, example } = await dangling(db, reference);
    if (count === 0) continue;
    const { table, columns, to_table } = reference;
    yield {
      sentence: `${table}: ${columns.join(', ')} refers to rows of ${to_table} that do not exist, in ${counted(count, 'row', 'rows')}: for example ${example}. Restore them from a backup.`,
    };
  }
}

async function foreignKeys(db: Database): Promise<Reference[]> {
  const names = (table: string, columns: string) => sql`(
    select array_agg(attname::text order by place) from unnest(${sql.ref(columns)}) with ordinality key(number, place)
      join pg_attribute on attrelid = ${sql.ref(table)} and attnum = number)`;
  const { rows } = await sql<Reference>`
    select conrelid::regclass::text as "table", ${names('conrelid', 'conkey')} as columns,
           confrelid::regclass::text as to_table, ${names('confrelid', 'confkey')} as to_columns
      from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace
     order by conrelid::regclass::text collate "C", conname`.execute(db);
  return rows;
}

async function dangling(
  db: Database,
  { table, columns, to_table, to_columns }: Reference,
): Promise<{ count: number; example: string | null }> {
  const values = columns.map((column) => sql.ref(`referring.${column}`));
  const isSame = columns.map(
    (column, index) => sql`${sql.ref(`known.${to_columns[index]}`)} = ${sql.ref(`referring.${column}`)}`,
  );
  const { rows } = await sql<{ count: number; example: string | null }>`
    select count(*)::integer as count, min(concat_ws(', ', ${sql.join(values)})) as example from ${sql.table(table)} referring
     where num_nulls(${sql.join(values)}) = 0 and not exists (select from ${sql.table(to_table)} known where ${sql.join(isSame, sql` and `)})`.execute(
    db,
  );
  return rows[0]!;
}
