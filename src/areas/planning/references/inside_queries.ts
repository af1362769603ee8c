/** Which rows belong to a project, or to a group with everything in it. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** A project, or a group with all its contents: one that was transferred, or that a member has left. */
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

/** The owners of the rows of each table: by its own columns, or otherwise by the rows that they are parts of. */
export type Owners = ReadonlyMap<string, Owner[]>;

export async function ownersByTable(db: Database): Promise<Owners> {
  const { rows } = await sql<{ table: string; column: string; parent: string; is_part: boolean }>`
    select source.relname as table, attname as column, parent.relname as parent, key.confdeltype = 'c' as is_part
      from pg_constraint key
      join pg_class source on source.oid = key.conrelid
      join pg_class parent on parent.oid = key.confrelid
      join pg_attribute on attrelid = key.conrelid and attnum = key.conkey[1]
     where key.contype = 'f' and key.connamespace = 'public'::regnamespace order by 1, 2`.execute(db);
  const owners = new Map<string, Owner[]>();
  for (const [table, keys] of Map.groupBy(rows, (row) => row.table)) {
    const own = keys.filter(({ column }) => column === 'project_id' || column === 'group_id');
    const parts = keys.filter(({ parent, is_part }) => is_part && parents.includes(parent));
    owners.set(
      table,
      own.length > 0
        ? own.map(({ column }) => ({ column, parent: undefined }))
        : parts.map(({ column, parent }) => ({ column, parent })),
    );
  }
  return owners;
}

/** Tables whose rows belong to a project or a group, and have parts in other tables. */
const parents: readonly string[] = ['boards', 'epics', 'issues', 'merge_requests', 'releases'];

/** A predicate on rows of a table, under its own name: they belong to the project or group, or are parts of what does. */
export function isOwnedBy(owners: Owners, moved: Moved, table: string): RawBuilder<SqlBool> {
  const predicates = (owners.get(table) ?? []).map(({ column, parent }) => {
    if (parent === undefined) return column === 'project_id' ? isOfProjects(moved, table) : isOfGroups(moved, table);
    const isOfParent = isOwnedBy(owners, moved, parent);
    return sql<SqlBool>`${sql.ref(`${table}.${column}`)} in (select id from ${sql.table(parent)} where ${isOfParent})`;
  });
  return sql`(${sql.join([sql`false`, ...predicates], sql` or `)})`;
}
