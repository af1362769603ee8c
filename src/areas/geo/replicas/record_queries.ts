/** Which repositories and blobs exist, and which of them a secondary has selected. */
import { type RawBuilder, sql } from 'kysely';
import { fromOf, type JobServices, keyOf, type StoredFiles } from '../../../services/index.ts';
import { type FileReplicable, fileReplicableOf, type Replicable, type ReplicableRecord } from './definition.ts';

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

/** Whether the project or the group is selected to which a row of files belongs; those of neither are copied by every secondary. */
function areChosenFiles({ project_id, group_id }: StoredFiles, selection: Selection): Condition {
  if (project_id === undefined) return always;
  const [project, group] = [sql.ref(project_id), group_id && sql.ref(group_id)];
  if (!group) return isChosenProject(project, selection);
  return sql<boolean>`case when ${project} is null then ${isChosenGroup(group, selection)} else ${isChosenProject(project, selection)} end`;
}

/** The repositories of a table, each with its own storage. */
const repositories = (table: 'projects' | 'snippets' | 'wikis', condition: Condition, only: string | undefined) =>
  sql`select id::text as record from ${sql.table(table)} where ${condition} and ${only === undefined ? always : sql`id = ${only}::bigint`}`;

const onChosenStorage = (selection: Selection, otherwise: Condition): Condition =>
  selection?.by === 'shards' ? sql<boolean>`storage = any(${selection.names}::text[])` : otherwise;

const filesOf = (stored_files: readonly StoredFiles[], replicable: FileReplicable) =>
  stored_files.filter(({ kind }) => fileReplicableOf(`${kind}/`) === replicable);

/** The keys of the blobs of a table. */
function blobs(files: StoredFiles, selection: Selection, only: string | undefined) {
  const key = sql.ref(files.key);
  // Compared without its prefix, so that the index of the column serves.
  const isMeant = only === undefined ? always : sql`${key} = ${only.slice((files.prefix ?? '').length)}`;
  return sql`
    select ${sql.raw(keyOf(files))} as record from ${sql.raw(fromOf(files))}
     where ${key} is not null and ${areChosenFiles(files, selection)} and ${isMeant}`;
}

/**
 * A SELECT of the column `record` of all records to be copied.
 * @param stored_files the tables of blobs
 * @param selection if omitted, all records
 * @param only restricts the query to this record
 */
export function recordsOf(
  stored_files: readonly StoredFiles[],
  replicable: Replicable,
  selection?: Selection,
  only?: string,
): RawBuilder<unknown> {
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
    case 'uploads':
      // UNION, because several rows may refer to a blob.
      return sql.join(
        [
          sql`select null as record where false`,
          ...filesOf(stored_files, replicable).map((files) => blobs(files, selection, only)),
        ],
        sql` union `,
      );
  }
}

/** The database, and the tables of blobs in it. */
type Records = Pick<JobServices, 'db' | 'stored_files'>;

/** Whether any row refers to this repository or blob. */
export async function isThere(
  { db, stored_files }: Records,
  { replicable, record }: ReplicableRecord,
  selection?: Selection,
): Promise<boolean> {
  const { rows } =
    await sql`select from (${recordsOf(stored_files, replicable, selection, record)}) found limit 1`.execute(db);
  return rows.length > 0;
}

/** The digest in the row of a blob, if the row stores one. */
export async function recordedDigest({ db, stored_files }: Records, key: string): Promise<string | undefined> {
  const selects = stored_files
    .filter(({ kind, sha256 }) => sha256 !== undefined && key.startsWith(`${kind}/`))
    .map(
      ({ table, key: column, prefix = '', sha256 }) =>
        sql`select ${sql.ref(sha256!)} as sha256 from ${sql.table(table)} where ${sql.ref(column)} = ${key.slice(prefix.length)}`,
    );
  if (selects.length === 0) return undefined;
  const { rows } = await sql<{ sha256: string }>`${sql.join(selects, sql` union all `)} limit 1`.execute(db);
  return rows[0]?.sha256;
}
