/** The contents of a project or group that was transferred. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** A transferred project, or a transferred group with all its contents. */
export type Moved = { project_id: number } | { group_id: number };

export const idsOf = (ids: readonly number[]) => sql`${ids}::bigint[]`;

/** A predicate on rows of a table: they belong to a transferred project. */
const isOfProjects = (moved: Moved, table: string): RawBuilder<SqlBool> =>
  'project_id' in moved
    ? sql`${sql.ref(`${table}.project_id`)} = ${moved.project_id}`
    : sql`${sql.ref(`${table}.project_id`)} in (
        select projects.id from projects join namespaces on namespaces.id = projects.namespace_id
         where namespaces.traversal_ids @> ${idsOf([moved.group_id])})`;

/** The same for a group, including its descendants. */
const isOfGroups = (moved: Moved, table: string): RawBuilder<SqlBool> =>
  'project_id' in moved
    ? sql`false`
    : sql`${sql.ref(`${table}.group_id`)} in (select id from namespaces where traversal_ids @> ${idsOf([moved.group_id])})`;

/**
 * The column of a table that refers to the project or group of its rows, or to the row of another table to which they
 * belong.
 */
interface Owner {
  column: string;
  /** Undefined for `project_id` and `group_id`. */
  parent: string | undefined;
}

/** The owners of the rows of a table: by its own columns, or otherwise by the rows that they are parts of. */
async function ownersOf(db: Database, table: string): Promise<Owner[]> {
  const { rows } = await sql<{ column: string; parent: string; is_part: boolean }>`
    select attname as column, parent.relname as parent, key.confdeltype = 'c' as is_part
      from pg_constraint key
      join pg_class parent on parent.oid = key.confrelid
      join pg_attribute on attrelid = key.conrelid and attnum = key.conkey[1]
     where key.contype = 'f' and key.conrelid = ${table}::regclass order by 1`.execute(db);
  const own = rows.filter(({ column }) => column === 'project_id' || column === 'group_id');
  if (own.length > 0) return own.map(({ column }) => ({ column, parent: undefined }));
  return rows
    .filter(({ parent, is_part }) => is_part && parents.includes(parent))
    .map(({ column, parent }) => ({ column, parent }));
}

/** Tables whose rows belong to a project or a group, and have parts in other tables. */
const parents: readonly string[] = ['boards', 'epics', 'issues', 'merge_requests', 'releases'];

/** A predicate on rows of a table, under its own name: they belong to the transferred project or group. */
export async function isInside(db: Database, moved: Moved, table: string): Promise<RawBuilder<SqlBool>> {
  const owners = await ownersOf(db, table);
  const predicates: RawBuilder<SqlBool>[] = [];
  for (const { column, parent } of owners) {
    if (parent !== undefined)
      predicates.push(
        sql`${sql.ref(`${table}.${column}`)} in (select id from ${sql.table(parent)} where ${await isInside(db, moved, parent)})`,
      );
    else predicates.push(column === 'project_id' ? isOfProjects(moved, table) : isOfGroups(moved, table));
  }
  return sql`(${sql.join(predicates, sql` or `)})`;
}
