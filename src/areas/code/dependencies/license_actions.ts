/** Reads licenses of dependencies from package files that are committed in a project (docs/reference/dependencies.md#licenses). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { blobSize, type Repository, readBlob } from '../../../git/index.ts';
import { licensedEcosystem, maximumMetadata_bytes, readLicenses, TooCostly } from '../../../lockfiles/index.ts';

/** Incremented when parsing changes: files are then parsed again by the next scan of their project. */
const readerVersion = 1;

/** The most files read per project, in the order of their paths. */
const maximumFiles = 5_000;
/** Files per request to the thread, and their total size. */
const batch = 100;
const maximumBatch_bytes = 8 * 1024 * 1024;

/** A file that declares licenses. */
export interface LicenseFile {
  path: string;
  blob_id: string;
}

interface ReadLicenseFile extends LicenseFile {
  /** In the format of `license_files.declared`. */
  declared: string;
}

/** The ecosystems of the dependencies for which the listing file declares no license. */
async function unlicensedEcosystems(db: Database, project_id: number): Promise<Set<string>> {
  const { rows } = await sql<{ ecosystem: string }>`
    select distinct ecosystem from dependencies join package_versions on package_versions.id = package_version_id
     where project_id = ${project_id} and licenses = '{}'`.execute(db);
  return new Set(rows.map(({ ecosystem }) => ecosystem));
}

/** A scan for licenses. */
interface LicenseScan {
  db: Database;
  project_id: number;
  repository: Repository;
  /** Stops it between two requests to the thread. */
  signal: AbortSignal;
}

/** @throws TooCostly if all files together take too much time or memory */
async function declaredIn(
  { repository, project_id, signal }: LicenseScan,
  files: readonly LicenseFile[],
): Promise<ReadLicenseFile[]> {
  const sizes = await Promise.all(files.map(({ blob_id }) => blobSize(repository, blob_id)));
  let left_bytes = maximumBatch_bytes;
  const small = files.filter((_file, index) => {
    const size_bytes = sizes[index]!;
    if (size_bytes > maximumMetadata_bytes || size_bytes > left_bytes) return false;
    left_bytes -= size_bytes;
    return true;
  });
  const read = await Promise.all(
    small.map(async ({ path, blob_id }) => ({ path, bytes: await readBlob(repository, blob_id) })),
  );
  const content = `licenses ${files.map(({ blob_id }) => blob_id).join(' ')}`;
  const declared = await readLicenses(read, { owner: project_id, content, signal });
  const byPath = new Map(small.map(({ path }, index) => [path, declared[index]]));
  return files.map((file) => ({ ...file, declared: byPath.get(file.path) ?? '[]' }));
}

/** The changes to the stored license files of a project. */
export interface LicenseChanges {
  paths: string[];
  read: ReadLicenseFile[];
}

/**
 * Reads the new and changed files of a commit that declare licenses for dependencies that lack one.
 * @param files the license files of the commit, in the order of their paths
 * @returns undefined if there are none and were none
 */
export async function readLicenseFiles(
  scan: LicenseScan,
  files: readonly LicenseFile[],
): Promise<LicenseChanges | undefined> {
  const { db, project_id, signal } = scan;
  const rows = await db
    .selectFrom('license_files')
    .select(['path', 'blob_id', 'reader_version'])
    .where('project_id', '=', project_id)
    .execute();
  if (files.length === 0 && rows.length === 0) return undefined;
  const kept = new Map(rows.map(({ path, blob_id, reader_version }) => [path, `${reader_version} ${blob_id}`]));
  const ecosystems = files.length === 0 ? new Set() : await unlicensedEcosystems(db, project_id);
  const wanted = files.filter(({ path }) => ecosystems.has(licensedEcosystem(path))).slice(0, maximumFiles);
  const changed = wanted.filter(({ path, blob_id }) => kept.get(path) !== `${readerVersion} ${blob_id}`);
  const read: ReadLicenseFile[] = [];
  for (let at = 0; at < changed.length; at += batch) {
    signal.throwIfAborted();
    const files = changed.slice(at, at + batch);
    try {
      read.push(...(await declaredIn(scan, files)));
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      // These files are not retried and count as declaring none; licenses in later files stay unknown until the next scan.
      read.push(...files.map((file) => ({ ...file, declared: '[]' })));
      break;
    }
  }
  return { paths: wanted.map(({ path }) => path), read };
}

/** Copies licenses from package files to the dependencies whose listing file declares none. */
const giveLicenses = (tx: Database, project_id: number) =>
  sql`
    with declared as materialized (
      select distinct on (ecosystem, advised_name, version) ecosystem, advised_name, version, licenses
        from license_files, jsonb_to_recordset(declared) given(ecosystem text, advised_name text, version text, licenses text[])
       where project_id = ${project_id}
       order by ecosystem, advised_name, version, path
    ), found as (
      select distinct on (dependencies.id) dependencies.id, declared.licenses
        from dependencies join package_versions on package_versions.id = package_version_id join declared using (ecosystem, advised_name)
       where project_id = ${project_id} and dependencies.licenses = '{}' and (declared.version is null or declared.version = package_versions.version)
       order by dependencies.id, declared.version nulls last
    )
    update dependencies set found_licenses = coalesce(found.licenses, '{}')
      from dependencies listed left join found using (id)
     where listed.project_id = ${project_id} and dependencies.id = listed.id
       and dependencies.found_licenses is distinct from coalesce(found.licenses, '{}')`.execute(tx);

/**
 * Stores the result of `readLicenseFiles`, and sets the licenses of dependencies.
 * @param tx a transaction in which the dependencies do not change
 */
export async function storeLicenseFiles(
  tx: Database,
  project_id: number,
  { paths, read }: LicenseChanges,
): Promise<void> {
  await sql`
    delete from license_files where project_id = ${project_id} and path <> all(${ofAnyLength(paths, 'text[]')})`.execute(
    tx,
  );
  await sql`
    insert into license_files (project_id, path, blob_id, reader_version, declared)
    select ${project_id}, path, blob_id, ${readerVersion}, declared::jsonb
      from unnest(${read.map(({ path }) => path)}::text[], ${read.map(({ blob_id }) => blob_id)}::text[],
                  ${read.map(({ declared }) => declared)}::text[]) file(path, blob_id, declared)
        on conflict (project_id, path) do update
       set blob_id = excluded.blob_id, reader_version = excluded.reader_version, declared = excluded.declared`.execute(
    tx,
  );
  await giveLicenses(tx, project_id);
}
