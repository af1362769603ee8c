/** Licenses of dependencies from the files of packages that are committed with a project (docs/reference/dependencies.md#licenses). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { blobSize, type Repository, readBlob } from '../../../git/index.ts';
import { licensedEcosystem, maximumMetadata_bytes, readLicenses, TooCostly } from '../../../lockfiles/index.ts';

/** Grows when the files are read differently: they are then read again with the next scan of their project. */
const readerVersion = 1;

/** The files of a project that are read, in the order of their paths. */
const maximumFiles = 5_000;
/** Files that are read by one question to the thread, and what they have together. */
const batch = 100;
const maximumBatch_bytes = 8 * 1024 * 1024;

/** A file that tells licenses. */
export interface LicenseFile {
  path: string;
  blob_id: string;
}

interface ReadLicenseFile extends LicenseFile {
  /** As `license_files.declared` has it. */
  declared: string;
}

/** The ecosystems of the dependencies whose own files do not say a license. */
async function unlicensedEcosystems(db: Database, project_id: number): Promise<Set<string>> {
  const { rows } = await sql<{ ecosystem: string }>`
    select distinct ecosystem from dependencies join package_versions on package_versions.id = package_version_id
     where project_id = ${project_id} and licenses = '{}'`.execute(db);
  return new Set(rows.map(({ ecosystem }) => ecosystem));
}

/** A scan that licenses are read for. */
interface LicenseScan {
  db: Database;
  project_id: number;
  repository: Repository;
  /** Ends it between two questions to the thread. */
  signal: AbortSignal;
}

/** @throws TooCostly when they take too long or too much memory together */
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

/** What is to be stored of the files of a project that tell licenses. */
export interface LicenseChanges {
  paths: string[];
  read: ReadLicenseFile[];
}

/**
 * Reads the files of a commit that tell a license which a dependency lacks, as far as they are new or have changed.
 * @param files those of the commit, in the order of their paths
 * @returns undefined when there are none and were none
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
      // These are not tried again, and say nothing; the licenses of the following ones stay unknown until the next scan.
      read.push(...files.map((file) => ({ ...file, declared: '[]' })));
      break;
    }
  }
  return { paths: wanted.map(({ path }) => path), read };
}

/** Gives each dependency whose own file says no license what the files of its package say. */
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
 * Stores what `readLicenseFiles` has read, and gives the dependencies their licenses.
 * @param tx in which the dependencies do not change
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
