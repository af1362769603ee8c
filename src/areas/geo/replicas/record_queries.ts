/** Which repositories and blobs exist, and which of them a secondary has selected. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { FileReplicable, Replicable, ReplicableRecord } from './definition.ts';

/** The selective synchronization of a secondary. */
export type Selection =
  | { by: 'namespaces'; ids: readonly number[] }
  /** Names of storages on the primary. */
  | { by: 'shards'; names: readonly string[] }
  | undefined;

type Condition = RawBuilder<boolean>;

const always: Condition = sql<boolean>`true`;

const isBelow = (namespace: RawBuilder<unknown>, ids: readonly number[]): Condition =>
  sql<boolean>`exists (select from namespaces chosen where chosen.id = ${namespace} and chosen.traversal_ids && ${ids}::bigint[])`;

/** Whether the project with an id is selected. */
function isChosenProject(id: RawBuilder<unknown>, selection: Selection): Condition {
  if (!selection) return always;
  const condition =
    selection.by === 'shards'
      ? sql<boolean>`owning.storage = any(${selection.names}::text[])`
      : isBelow(sql`owning.namespace_id`, selection.ids);
  return sql<boolean>`exists (select from projects owning where owning.id = ${id} and ${condition})`;
}

function isChosenGroup(id: RawBuilder<unknown>, selection: Selection): Condition {
  if (!selection) return always;
  if (selection.by === 'namespaces') return isBelow(id, selection.ids);
  return sql<boolean>`exists (select from namespaces owning where owning.id = ${id} and owning.repository_storage = any(${selection.names}::text[]))`;
}

const isChosenOwner = (table: string, selection: Selection): Condition => {
  const [project, group] = [sql.ref(`${table}.project_id`), sql.ref(`${table}.group_id`)];
  return sql<boolean>`case when ${project} is null then ${isChosenGroup(group, selection)} else ${isChosenProject(project, selection)} end`;
};

/** The repositories of a table, each with its own storage. */
const repositories = (table: 'projects' | 'snippets' | 'wikis', condition: Condition, only: string | undefined) =>
  sql`select id::text as record from ${sql.table(table)} where ${condition} and ${only === undefined ? always : sql`id = ${only}::bigint`}`;

const onChosenStorage = (selection: Selection, otherwise: Condition): Condition =>
  selection?.by === 'shards' ? sql<boolean>`storage = any(${selection.names}::text[])` : otherwise;

const blobs = (from: RawBuilder<unknown>, key: string, condition: Condition, only: string | undefined) =>
  sql`select ${sql.ref(key)} as record from ${from} where ${sql.ref(key)} is not null and ${condition} and ${only === undefined ? always : sql`${sql.ref(key)} = ${only}`}`;

const avatars = (table: string, only: string | undefined) => blobs(sql.table(table), 'avatar_key', always, only);

/** Avatars, pictures of the instance and uploaded chunks of source maps are copied by every secondary. */
const uploads = (selection: Selection, only: string | undefined) =>
  sql.join(
    [
      ...['users', 'projects', 'namespaces', 'topics'].map((table) => avatars(table, only)),
      blobs(sql`appearance_pictures`, 'blob_key', always, only),
      blobs(sql`uploads`, 'blob_key', isChosenOwner('uploads', selection), only),
      blobs(
        sql`issue_metric_images join issues on issues.id = issue_id`,
        'blob_key',
        isChosenProject(sql`issues.project_id`, selection),
        only,
      ),
      blobs(
        sql`dependency_list_exports`,
        'blob_key',
        isChosenProject(sql`dependency_list_exports.project_id`, selection),
        only,
      ),
      blobs(
        sql`relation_export_files join relation_exports on relation_exports.id = export_id`,
        'blob_key',
        isChosenOwner('relation_exports', selection),
        only,
      ),
      blobs(
        sql`error_tracking_source_maps`,
        'blob_key',
        isChosenProject(sql`error_tracking_source_maps.project_id`, selection),
        only,
      ),
      blobs(sql`error_tracking_chunks`, 'blob_key', always, only),
    ],
    sql` union `,
  );

const objects = (selection: Selection, only: string | undefined) => sql`
  select 'lfs/' || oid as record from lfs_objects
   where exists (select from lfs_objects_projects linked
                  where linked.lfs_object_id = lfs_objects.id and ${isChosenProject(sql`linked.project_id`, selection)})
     and ${only === undefined ? always : sql`oid = ${only.replace(/^lfs\//, '')}`}`;

/**
 * A SELECT of the column `record` of all records to be copied.
 * @param selection if omitted, all records
 * @param only restricts the query to this record
 */
export function recordsOf(replicable: Replicable, selection?: Selection, only?: string): RawBuilder<unknown> {
  const ofProject = (table: string) => isChosenProject(sql.ref(`${table}.project_id`), selection);
  switch (replicable) {
    case 'project_repositories':
      return repositories('projects', isChosenProject(sql`projects.id`, selection), only);
    case 'snippet_repositories': {
      const condition = onChosenStorage(selection, ofProject('snippets'));
      return repositories('snippets', sql`(snippets.project_id is null or ${condition})`, only);
    }
    case 'project_wiki_repositories':
      return repositories(
        'wikis',
        sql`project_id is not null and ${onChosenStorage(selection, ofProject('wikis'))}`,
        only,
      );
    case 'group_wiki_repositories': {
      const condition = onChosenStorage(selection, isChosenGroup(sql`wikis.group_id`, selection));
      return repositories('wikis', sql`group_id is not null and ${condition}`, only);
    }
    case 'lfs_objects':
      return objects(selection, only);
    case 'uploads':
      return uploads(selection, only);
  }
}

/** Whether any row refers to this repository or blob. */
export async function isThere(
  db: Database,
  { replicable, record }: ReplicableRecord,
  selection?: Selection,
): Promise<boolean> {
  const { rows } = await sql`select from (${recordsOf(replicable, selection, record)}) found limit 1`.execute(db);
  return rows.length > 0;
}

/** The digest in the row of a blob, if the row stores one. */
export async function recordedDigest(
  db: Database,
  replicable: FileReplicable,
  key: string,
): Promise<string | undefined> {
  if (replicable === 'lfs_objects') return key.replace(/^lfs\//, '');
  const upload = await db
    .selectFrom('uploads')
    .select('sha256')
    .where('blob_key', '=', key)
    .limit(1)
    .executeTakeFirst();
  return upload?.sha256;
}
