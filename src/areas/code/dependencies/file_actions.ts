/** Stores the dependencies listed in files, with a few statements per file. */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { type PackageManager, type Portion, type ReadFile, Unreadable } from '../../../lockfiles/index.ts';
import { lockAdvisories } from '../vulnerabilities/match_actions.ts';

/** Incremented when parsing changes: all files are then parsed again by the next scan of their project. */
export const readerVersion = 6;

/** A file that completes another one, such as a parent. */
export interface Parent {
  path: string;
  /** Null if it does not exist. */
  blob_id: string | null;
}

/** A file that was parsed, or could not be parsed. */
export interface WrittenFile {
  project_id: number;
  path: string;
  /** Null for an uploaded document, and for one of a job. */
  blob_id: string | null;
  /** The job that left it. */
  job_id?: number;
  manager: PackageManager | null;
  outcome: ReadFile | Unreadable;
  /** The parents that were looked up. */
  parents?: readonly Parent[];
}

/** A stored file of the default branch. */
export interface KeptFile {
  path: string;
  blob_id: string | null;
  reader_version: number;
  includes: string[];
  parents: Parent[];
}

/** The stored files of the default branch by path. */
export async function keptFiles(db: Database, project_id: number): Promise<Map<string, KeptFile>> {
  const rows = await db
    .selectFrom('dependency_files')
    .select(['path', 'blob_id', 'reader_version', 'includes'])
    .select(sql<Parent[]>`parents`.as('parents'))
    .where('project_id', '=', project_id)
    .where('blob_id', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.path, row]));
}

/**
 * The entries of a batch as rows of texts, numbered by `place`.
 * @param members the members to include
 */
export const entries = (portion: Portion, members: readonly (keyof Portion)[]) => sql`
  rows from (${sql.join(members.map((member) => sql`json_array_elements_text(${portion[member]}::json)`))})
  with ordinality entry(${sql.join([...members, 'place'].map((name) => sql.id(name)))})`;

/** The digest of each entry of a file. */
const digest = (path: string) =>
  sql`md5(concat_ws(E'\n', manager, coalesce(source_path, ${path}), name, version))::uuid`;

/**
 * Adds the packages of a file that the server does not have yet; packages without advisories need no comparison. This runs outside the transaction that stores the file, so that
 * files with the same packages do not wait for each other.
 */
async function storePackages(db: Database, { portions }: ReadFile): Promise<void> {
  for (const portion of portions)
    await db.transaction().execute(async (tx) => {
      await lockAdvisories(tx, 'shared');
      await sql`
        insert into package_versions (ecosystem, advised_name, version, is_matched)
        select distinct ecosystem, advised_name, version,
               not exists (select from advisory_packages about where about.ecosystem = entry.ecosystem and about.advised_name = entry.advised_name)
          from ${entries(portion, ['ecosystem', 'advised_name', 'version'])}
         where ecosystem is not null
           and not exists (select from package_versions known
                            where known.ecosystem = entry.ecosystem and known.advised_name = entry.advised_name and known.version = entry.version)
         order by ecosystem, advised_name, version
            on conflict do nothing`.execute(tx);
    });
}

/** The job that removes unreferenced packages removed packages of a file after `storePackages` had found them. */
export class PackagesGone extends Error {
  override name = 'PackagesGone';
}

const maximumTries = 3;

/**
 * Adds the packages of a file and runs the callback that stores the file. Retries both if packages are removed in between.
 * @param store a transaction that calls `storeFile`
 * @returns the result of `store`
 */
export async function withPackages<T>(db: Database, outcome: ReadFile, store: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await storePackages(db, outcome);
    try {
      return await store();
    } catch (error) {
      if (!(error instanceof PackagesGone) || tries === maximumTries) throw error;
    }
  }
}

/**
 * Stores a file with its dependencies. Dependencies that it listed before keep their ids.
 * @param file if it lists packages, call this through `withPackages`
 * @returns the id of the file
 */
export async function storeFile(tx: Database, file: WrittenFile): Promise<number> {
  const { project_id, path, blob_id, manager, outcome, parents = [], job_id = null } = file;
  // The packages of its dependencies must stay until the commit: no foreign key protects them (docs/decisions/0056-dependencies-have-no-foreign-keys.md).
  await lockAdvisories(tx, 'shared');
  const [count, error, includes] =
    outcome instanceof Unreadable ? [0, outcome.message, []] : [outcome.count, outcome.error ?? null, outcome.includes];
  const { rows } = await sql<{ id: number; is_new: boolean }>`
    insert into dependency_files (project_id, path, blob_id, job_id, reader_version, package_manager, count, error, includes, parents)
    values (${project_id}, ${path}, ${blob_id}, ${job_id}::bigint, ${readerVersion}, ${manager}, ${count}, ${error}, ${includes}::text[], ${JSON.stringify(parents)}::jsonb)
        on conflict (project_id, path) where blob_id is ${sql.raw(blob_id === null ? 'null' : 'not null')}
        do update set blob_id = excluded.blob_id, job_id = excluded.job_id, reader_version = excluded.reader_version, package_manager = excluded.package_manager,
                      count = excluded.count, error = excluded.error, includes = excluded.includes, parents = excluded.parents,
                      updated_at = now()
    returning id, xmax = 0 as is_new`.execute(tx);
  const { id: file_id, is_new } = rows[0]!;
  const portions = outcome instanceof Unreadable ? [] : outcome.portions;
  if (!is_new) await removeGone(tx, { file_id, path }, portions);
  for (const portion of portions) await storeEntries(tx, { project_id, file_id, path, is_new }, portion);
  return file_id;
}

/** The columns that identify an entry of a file. */
const identifying = ['manager', 'source_path', 'name', 'version'] as const;

async function removeGone(
  tx: Database,
  file: { file_id: number; path: string },
  portions: readonly Portion[],
): Promise<void> {
  const kept = portions.map((portion) => sql`select ${digest(file.path)} from ${entries(portion, identifying)}`);
  const isGone = kept.length === 0 ? sql`true` : sql`digest not in (${sql.join(kept, sql` union all `)})`;
  await sql`delete from dependencies where file_id = ${file.file_id} and ${isGone}`.execute(tx);
}

const all: readonly (keyof Portion)[] = [
  ...identifying,
  'ecosystem',
  'advised_name',
  'direct',
  'development',
  'licenses',
];

interface StoredFile {
  project_id: number;
  file_id: number;
  path: string;
  /** Whether it had no dependencies before. */
  is_new: boolean;
}

/** Dependencies listed before keep their ids. */
const update = sql`
          on conflict (file_id, digest) do update
         set direct = excluded.direct, development = excluded.development, licenses = excluded.licenses, package_version_id = excluded.package_version_id
       where (dependencies.direct, dependencies.development, dependencies.licenses, dependencies.package_version_id)
             is distinct from (excluded.direct, excluded.development, excluded.licenses, excluded.package_version_id)`;

async function storeEntries(
  tx: Database,
  { project_id, file_id, path, is_new }: StoredFile,
  portion: Portion,
): Promise<void> {
  const { rows } = await sql<{ gone: number }>`
    with entry as materialized (
      select entry.*, package_versions.id as package_version_id
        from ${entries(portion, all)} left join package_versions using (ecosystem, advised_name, version)
    ), stored as (
      insert into dependencies (project_id, file_id, digest, package_version_id, name, version, package_manager, path, direct, development, licenses)
      select ${project_id}, ${file_id}, ${digest(path)}, package_version_id, name, version, manager, coalesce(source_path, ${path}),
             direct::boolean, development::boolean, licenses::text[]
        from entry
       order by place${is_new ? sql`` : update}
    )
    select count(*) as gone from entry where ecosystem is not null and package_version_id is null`.execute(tx);
  if (rows[0]!.gone > 0) throw new PackagesGone('Packages of the file were removed while it was stored.');
}

/**
 * Stores files of the default branch as unread, without dependencies.
 * @param files with distinct paths
 * @param error why they were not read
 */
export async function storeUnread(
  tx: Database,
  project_id: number,
  files: readonly Pick<WrittenFile & { blob_id: string }, 'path' | 'blob_id' | 'manager'>[],
  error: string,
): Promise<void> {
  if (files.length === 0) return;
  await sql`
    with unread as (
      insert into dependency_files as kept (project_id, path, blob_id, reader_version, package_manager, count, error)
      select ${project_id}, path, blob_id, 0, manager, 0, ${error}
        from unnest(${files.map(({ path }) => path)}::text[], ${files.map(({ blob_id }) => blob_id)}::text[],
                    ${files.map(({ manager }) => manager)}::text[]) file(path, blob_id, manager)
          on conflict (project_id, path) where blob_id is not null
          do update set reader_version = 0, count = 0, error = excluded.error, includes = '{}', parents = '[]', updated_at = now()
       where kept.reader_version <> 0
      returning id
    )
    delete from dependencies using unread where file_id = unread.id`.execute(tx);
}

/**
 * Removes files of the default branch that are no longer read, with their dependencies.
 * @param paths the paths to keep
 */
export async function removeOthers(tx: Database, project_id: number, paths: readonly string[]): Promise<void> {
  await sql`
    delete from dependency_files
     where project_id = ${project_id} and blob_id is not null and path <> all(${ofAnyLength(paths, 'text[]')})`.execute(
    tx,
  );
}
