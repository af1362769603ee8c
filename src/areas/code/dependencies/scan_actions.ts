/** Scans the default branch for files that list dependencies. The result for a blob is kept until the blob changes. */
import { posix } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import {
  blobSize,
  entryAt,
  NamedFiles,
  type Repository,
  readBlob,
  readCommit,
  repositoryOf,
  resolveBranch,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import {
  isListing,
  type Listing,
  licensedEcosystem,
  listingsAmong,
  maximumListing_bytes,
  mayBeListing,
  mayTellLicense,
  type ParentBytes,
  type ReadFile,
  TooCostly,
  Unreadable,
  wakeReader,
} from '../../../lockfiles/index.ts';
import { matchPackages } from '../vulnerabilities/match_actions.ts';
import { refreshVulnerabilities } from '../vulnerabilities/refresh_actions.ts';
import {
  type KeptFile,
  keptFiles,
  type Parent,
  readerVersion,
  removeOthers,
  storeFile,
  storeUnread,
  type WrittenFile,
  withPackages,
} from './file_actions.ts';
import { type LicenseFile, readLicenseFiles, storeLicenseFiles } from './license_actions.ts';
import { readOnce } from './reading_actions.ts';
import { maximumPath_bytes } from './rules.ts';

/** The most files read per project, in the order of their paths. */
export const maximumFiles = 1_000;
/** The most further files recorded as unread. */
const maximumUnread = 10_000;
/** The most files per project that may exhaust the time or memory of the thread. The rest wait for the next scan, so that other projects are scanned too. */
const maximumCostly = 3;
/** The most files with relevant names, and folders of such files, that are examined. */
const maximumNamed = 1_000_000;
/** How long file names are examined before yielding to other work. */
const slice_ms = 5;

const namedFiles = new NamedFiles((name) => mayBeListing(name) || mayTellLicense(name));

export const tooMany = `The project has more than ${maximumFiles.toLocaleString('en')} files that list dependencies.`;

const othersAreCostly = 'It is not read, because other files of the project take too long.';

type ScanServices = Pick<Services, 'db' | 'storages'>;

export interface Scan {
  db: Database;
  project_id: number;
  default_branch: string;
  repository: Repository;
  /** Files that are read even below folders of vendored code and tests. */
  dependency_paths: string[];
  /** Undefined when the default branch does not exist. */
  commit_id: string | undefined;
  /** Stops the scan. */
  signal: AbortSignal;
  /** Lookups cached by path: many files have the same parent. */
  blobs: Map<string, Promise<string | null>>;
}

type Found = Listing & { blob_id: string };

/** The files of the tree that list dependencies, and those that declare licenses, in the order of their paths. Symbolic links are not followed. */
export async function listingsIn(
  { repository, dependency_paths }: Scan,
  commit_id: string,
): Promise<{ listings: Found[]; license_files: LicenseFile[] }> {
  const named = new Set(dependency_paths);
  const { tree_id } = await readCommit(repository, commit_id);
  const files = await namedFiles.in(repository, tree_id, maximumNamed);
  const blobs = new Map<string, string>();
  const license_files: LicenseFile[] = [];
  let since = performance.now();
  for (const { path, id } of files) {
    if (performance.now() - since > slice_ms) {
      await nextTurn();
      since = performance.now();
    }
    if (Buffer.byteLength(path) > maximumPath_bytes) continue;
    if (isListing(path, named)) blobs.set(path, id);
    if (licensedEcosystem(path) !== undefined) license_files.push({ path, blob_id: id });
  }
  const listings = listingsAmong(blobs.keys(), named).map((listing) => ({
    ...listing,
    blob_id: blobs.get(listing.path)!,
  }));
  return { listings, license_files };
}

/** @throws Unreadable if it is too large */
async function bytesOf(repository: Repository, blob_id: string): Promise<Buffer> {
  if ((await blobSize(repository, blob_id)) > maximumListing_bytes)
    throw new Unreadable(`It is larger than ${maximumListing_bytes / 1024 / 1024} MiB.`);
  return readBlob(repository, blob_id);
}

/** A parent that is too large is ignored. */
const parentBytes = async (repository: Repository, blob_id: string): Promise<Buffer | null> =>
  (await blobSize(repository, blob_id)) > maximumListing_bytes ? null : readBlob(repository, blob_id);

/** The blob at a path of the commit, null if there is none. */
function blobAt({ repository, commit_id, blobs }: Scan, path: string): Promise<string | null> {
  const known = blobs.get(path);
  if (known) return known;
  const blob = entryAt(repository, commit_id!, path).then((entry) => (entry?.type === 'blob' ? entry.id : null));
  blobs.set(path, blob);
  return blob;
}

/**
 * Parses a file in the thread, with the parents that complete it.
 * @param tried receives the parents that were looked up
 * @throws Unreadable
 */
export async function readWithParents(scan: Scan, { path, blob_id }: Found, tried: Parent[]): Promise<ReadFile> {
  const bytes = await bytesOf(scan.repository, blob_id);
  const parents: ParentBytes[] = [];
  const { db, project_id: owner, signal } = scan;
  // Names that affect parsing are part of the content.
  const contentWith = (blobs: readonly Parent[]) =>
    [posix.basename(path), blob_id, ...blobs.map((each) => each.blob_id)].join(' ');
  let file = await readOnce(db, path, bytes, { owner, content: contentWith([]), signal });
  while (file.wants !== undefined) {
    for (const wanted of file.wants) {
      const parent = { path: wanted, blob_id: await blobAt(scan, wanted) };
      tried.push(parent);
      parents.push({
        path: wanted,
        bytes: parent.blob_id === null ? null : await parentBytes(scan.repository, parent.blob_id),
      });
    }
    file = await readOnce(db, path, bytes, { owner, content: contentWith(tried), signal }, { parents });
  }
  return file;
}

/** The dependencies listed in a file, or the reason why it cannot be parsed. */
async function read(scan: Scan, found: Found): Promise<Pick<WrittenFile, 'outcome' | 'parents'>> {
  const parents: Parent[] = [];
  try {
    return { outcome: await readWithParents(scan, found, parents), parents };
  } catch (error) {
    if (error instanceof Unreadable) return { outcome: error, parents };
    throw error;
  }
}

/** Whether a file and its parents are unchanged since the file was parsed. */
async function isUnchanged(scan: Scan, { blob_id }: Found, known: KeptFile | undefined): Promise<boolean> {
  if (known?.blob_id !== blob_id || known.reader_version !== readerVersion) return false;
  const now = await Promise.all(known.parents.map(({ path }) => blobAt(scan, path)));
  return known.parents.every((parent, index) => parent.blob_id === now[index]);
}

/**
 * Runs a change of the listed dependencies, unless the default branch has moved since the scan began: the move has enqueued its own scan.
 * @returns whether it ran
 */
function whileCurrent({ db, project_id, ...scan }: Scan, run: (tx: Database) => Promise<unknown>): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // Locked, so that of two concurrent scans the one of the newer commit writes last.
    const project = await tx
      .selectFrom('projects')
      .select('default_branch')
      .where('id', '=', project_id)
      .forKeyShare()
      .executeTakeFirst();
    if (project?.default_branch !== scan.default_branch) return false;
    await tx
      .insertInto('dependency_scans')
      .values({ project_id })
      .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ project_id }))
      .execute();
    if ((await resolveBranch(scan.repository, scan.default_branch)) !== scan.commit_id) return false;
    await run(tx);
    return true;
  });
}

/** Parses a file and stores its dependencies. Undefined if the branch has moved, otherwise the included files, and whether parsing timed out. */
async function replaceFile(
  scan: Scan,
  found: Found,
): Promise<{ includes: readonly string[]; is_costly: boolean } | undefined> {
  wakeReader();
  const { outcome, parents } = await read(scan, found);
  const file: WrittenFile = { ...found, project_id: scan.project_id, outcome, parents };
  const store = () => whileCurrent(scan, (tx) => storeFile(tx, file));
  const isCurrent = await (outcome instanceof Unreadable ? store() : withPackages(scan.db, outcome, store));
  if (!isCurrent) return undefined;
  return { includes: outcome instanceof Unreadable ? [] : outcome.includes, is_costly: outcome instanceof TooCostly };
}

/** Files included by a requirements file of pip, which can have any name. */
export async function included(scan: Scan, paths: readonly string[]): Promise<Found[]> {
  const blobs = await Promise.all(paths.map((path) => blobAt(scan, path)));
  return paths.flatMap((path, index) => {
    const blob_id = blobs[index] ?? null;
    return blob_id === null ? [] : [{ path, manager: 'pip' as const, blob_id }];
  });
}

export async function scanOf(
  { db, ...services }: ScanServices,
  project_id: number,
  signal: AbortSignal,
): Promise<Scan | undefined> {
  const project = await db
    .selectFrom('projects')
    .select(['id', 'storage', 'default_branch', 'dependency_paths'])
    .where('id', '=', project_id)
    .executeTakeFirst();
  if (!project) return undefined;
  const repository = repositoryOf(services, project);
  const commit_id = await resolveBranch(repository, project.default_branch);
  const { default_branch, dependency_paths } = project;
  return { db, project_id, default_branch, dependency_paths, repository, commit_id, signal, blobs: new Map() };
}

/** The files of a commit by outcome. */
interface Listed {
  /** Files to keep. */
  wanted: Set<string>;
  /** Files that wait for the next scan. */
  postponed: Found[];
  /** Files beyond the limit. */
  beyond: Found[];
}

/**
 * Parses the new and changed files, and stores each.
 * @param left the files of the commit that list dependencies
 * @returns undefined if the branch has moved
 */
async function readChanged(scan: Scan, left: Found[]): Promise<Listed | undefined> {
  const kept = await keptFiles(scan.db, scan.project_id);
  const wanted = new Set<string>();
  const postponed: Found[] = [];
  let costly = 0;
  while (left.length > 0 && wanted.size < maximumFiles) {
    scan.signal.throwIfAborted();
    const next = left.shift()!;
    if (wanted.has(next.path)) continue;
    wanted.add(next.path);
    const known = kept.get(next.path);
    if (await isUnchanged(scan, next, known)) left.push(...(await included(scan, known!.includes)));
    else if (costly === maximumCostly) postponed.push(next);
    else {
      const read = await replaceFile(scan, next);
      if (!read) return undefined;
      if (read.is_costly) costly += 1;
      left.push(...(await included(scan, read.includes)));
    }
  }
  const unread = new Map(left.filter(({ path }) => !wanted.has(path)).map((found) => [found.path, found]));
  return { wanted, postponed, beyond: [...unread.values()].slice(0, maximumUnread) };
}

/**
 * Most projects have no relevant files, and each change of their default branch is scanned: that takes one statement.
 * @returns false if something is stored for an earlier commit, or the project was never scanned
 */
async function hasNothingStill({ db, project_id, repository, default_branch, commit_id }: Scan): Promise<boolean> {
  if ((await resolveBranch(repository, default_branch)) !== commit_id) return false;
  const { numAffectedRows = 0n } = await sql`
    update dependency_scans set commit_id = ${commit_id ?? null}, scanned_at = now()
     where project_id = ${project_id}
       and not exists (select from dependency_files files where files.project_id = dependency_scans.project_id)
       and not exists (select from license_files files where files.project_id = dependency_scans.project_id)`.execute(
    db,
  );
  return numAffectedRows > 0n;
}

/**
 * Records the dependencies of a project's default branch. Each file is stored in its own transaction, so that an interrupted scan can resume.
 * @param signal stops it between two files
 */
export async function scanProject(services: ScanServices, project_id: number, signal: AbortSignal): Promise<void> {
  const scan = await scanOf(services, project_id, signal);
  if (!scan) return;
  const found =
    scan.commit_id === undefined ? { listings: [], license_files: [] } : await listingsIn(scan, scan.commit_id);
  if (found.listings.length === 0 && found.license_files.length === 0 && (await hasNothingStill(scan))) return;
  const listed = await readChanged(scan, found.listings);
  if (!listed) return;
  const { wanted, postponed, beyond } = listed;
  await matchPackages(scan.db);
  await whileCurrent(scan, async (tx) => {
    await removeOthers(tx, project_id, [...wanted, ...beyond.map(({ path }) => path)]);
    await storeUnread(tx, project_id, beyond, tooMany);
    await storeUnread(tx, project_id, postponed, othersAreCostly);
    await tx
      .updateTable('dependency_scans')
      .set({ commit_id: scan.commit_id ?? null, scanned_at: new Date().toISOString() })
      .where('project_id', '=', project_id)
      .execute();
    await refreshVulnerabilities(tx, [project_id]);
  });
  // Last, since they can be thousands of files.
  const licenses = await readLicenseFiles(scan, found.license_files);
  if (licenses) await whileCurrent(scan, (tx) => storeLicenseFiles(tx, project_id, licenses));
}
