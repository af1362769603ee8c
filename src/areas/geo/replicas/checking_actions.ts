/** Computing checksums, and finding damage, on the primary (docs/reference/geo.md#checksums). */
import { createHash } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { sql } from 'kysely';
import { type BlobKey, BlobStoreError } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allRefs,
  brokenRefs,
  fsck,
  headBranch,
  type Repository,
  refsChecksum,
  repositoryOf,
} from '../../../git/index.ts';
import type { JobServices, Owner, RepositoryKind } from '../../../services/index.ts';
import {
  type FileReplicable,
  isRepository,
  type ReplicableRecord,
  type RepositoryReplicable,
  repositoryReplicables,
} from './definition.ts';
import { isThere, recordedDigest } from './record_queries.ts';
import { reasonOfFailure } from './rules.ts';

export type ReplicaServices = Pick<JobServices, 'db' | 'storages' | 'repositories' | 'blobs' | 'stored_files'>;

/** The result of checking a repository or a blob. */
export interface Checked {
  /** Null if it cannot be read. */
  checksum: string | null;
  /** The target branch of HEAD in a repository. */
  head: string | null;
  /** The size of a blob. */
  size_bytes: number | null;
  /** The problem, as the end of a sentence. */
  failure: string | null;
  is_missing: boolean;
}

const nothing = { checksum: null, head: null, size_bytes: null, failure: null, is_missing: false };
const missing: Checked = { ...nothing, failure: 'it is missing', is_missing: true };

/** The kind of repository owners of a replicable. */
export const kindOf = (
  { repositories }: Pick<JobServices, 'repositories'>,
  replicable: RepositoryReplicable,
): RepositoryKind => repositories.kinds.find(({ name }) => name === repositoryReplicables[replicable])!;

/** Whether the refs are being moved at the moment, so that the location in the database is not current. */
async function isMoving(db: Database, { column }: RepositoryKind, { id }: Owner): Promise<boolean> {
  const { rows } = await sql`select from reference_updates where ${sql.ref(column)} = ${id} limit 1`.execute(db);
  return rows.length > 0;
}

/** The first damaged ref. git omits refs that it cannot read or that a disk has lost. */
async function damagedRef(
  db: Database,
  kind: RepositoryKind,
  owner: Owner,
  repository: Repository,
): Promise<string | undefined> {
  const isBusy = await isMoving(db, kind, owner);
  const [broken] = await brokenRefs(repository);
  if (broken !== undefined) return `the ref ${broken} cannot be read`;
  const refs = await allRefs(repository);
  const recorded = await kind.recordedRefs(db, owner.id);
  const other = Array.from(recorded.refs).find(([ref, id]) => refs.get(ref) !== id);
  return other && !isBusy ? `the ref ${other[0]} is not where it was recorded` : undefined;
}

async function checkRepository(
  services: ReplicaServices,
  replicable: RepositoryReplicable,
  id: number,
  isThorough: boolean,
): Promise<Checked | undefined> {
  const kind = kindOf(services, replicable);
  const owner = await kind.find(services.db, id);
  if (!owner) return undefined;
  const repository = repositoryOf(services, { id, storage: owner.storage, folder: kind.folder });
  try {
    await access(repository.path, constants.R_OK);
    const head = (await headBranch(repository)) ?? null;
    const damage = await damagedRef(services.db, kind, owner, repository);
    const [problem] = damage === undefined && isThorough ? await fsck(repository) : [damage];
    if (problem !== undefined) return { ...nothing, failure: problem };
    return { ...nothing, checksum: await refsChecksum(repository), head };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? missing
      : { ...nothing, failure: reasonOfFailure(error) };
  }
}

/**
 * The SHA-256 of a blob.
 * @returns undefined when there is none
 * @throws BlobStoreError, and the errors of the file system
 */
export async function digestOfBlob(
  { blobs }: Pick<ReplicaServices, 'blobs'>,
  key: string,
): Promise<{ sha256: string; size_bytes: number } | undefined> {
  const content = await blobs.read(key as BlobKey);
  if (!content) return undefined;
  const hash = createHash('sha256');
  let size_bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size_bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), size_bytes };
}

async function checkBlob(
  services: ReplicaServices,
  replicable: FileReplicable,
  key: string,
): Promise<Checked | undefined> {
  if (!(await isThere(services, { replicable, record: key }))) return undefined;
  try {
    const found = await digestOfBlob(services, key);
    if (!found) return missing;
    const recorded = await recordedDigest(services, key);
    const isDamaged = recorded !== undefined && recorded !== found.sha256;
    if (isDamaged) return { ...nothing, failure: `its SHA-256 is ${found.sha256}` };
    return { ...nothing, checksum: found.sha256, size_bytes: found.size_bytes };
  } catch (error) {
    if (error instanceof BlobStoreError) throw error;
    return { ...nothing, failure: reasonOfFailure(error) };
  }
}

/**
 * Computes the checksum of a repository or a blob.
 * @param isThorough whether to read every object of a repository as well
 * @returns undefined if no row refers to it any more
 * @throws BlobStoreError if an object store does not respond, errors of the database
 */
export const check = (
  services: ReplicaServices,
  { replicable, record }: ReplicableRecord,
  isThorough: boolean,
): Promise<Checked | undefined> =>
  isRepository(replicable)
    ? checkRepository(services, replicable, Number(record), isThorough)
    : checkBlob(services, replicable, record);
