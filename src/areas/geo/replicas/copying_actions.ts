/** Updating one copy: it is copied, removed, or has to wait (docs/reference/geo.md#copies). */
import type { Logger } from 'pino';
import { BlobMismatch } from '../../../blobs/index.ts';
import { GitError, MirrorDiffers } from '../../../git/index.ts';
import { OutboundError } from '../../../outbound/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { areInBucket, isRepository } from './definition.ts';
import { copyFileHere, damageOfFile, removeFile } from './file_actions.ts';
import { PrimaryRefused } from './passage_actions.ts';
import {
  type Copied,
  endFailed,
  endRemoved,
  endSynced,
  endWaiting,
  healCopy,
  type StartedReplica,
  whileStarted,
} from './queue_actions.ts';
import { isThere } from './record_queries.ts';
import {
  copyRepositoryHere,
  damageOfRepository,
  type Expected,
  hasRefs,
  removeRepository,
} from './repository_actions.ts';
import { reasonOfFailure, sentenceOfDamage } from './rules.ts';
import type { SiteRules } from './site_queries.ts';

/** Why a copy failed. */
interface Failure {
  /** The reason as a sentence. */
  reason: string;
  is_missing: boolean;
}

const noun = ({ replicable }: StartedReplica): string => (isRepository(replicable) ? 'repository' : 'file');

function failureOf(error: unknown, replica: StartedReplica, { checksum }: Expected): Failure {
  const failed = (reason: string) => ({ reason, is_missing: false });
  if (error instanceof PrimaryRefused) {
    if (error.status === 404) return { reason: `The primary has no such ${noun(replica)}.`, is_missing: true };
    return failed(error.status === 422 ? sentenceOfDamage('it cannot be read') : `${error.message}`);
  }
  if (error instanceof OutboundError) return failed(`The primary cannot be reached: ${error.message}`);
  if (error instanceof MirrorDiffers)
    return failed(`The primary sends the checksum ${error.checksum} and has recorded ${checksum}.`);
  if (error instanceof BlobMismatch) return failed('The primary sends other bytes than it has recorded.');
  const said =
    error instanceof GitError ? /^(?:remote|fatal: remote error): (.+)$/m.exec(error.stderr)?.[1] : undefined;
  return failed(said === undefined ? `It could not be copied: ${reasonOfFailure(error)}` : sentenceOfDamage(said));
}

/**
 * A file in a bucket may belong to another site, and may be arriving there just now: a file is removed only if it was
 * copied here and no site refers to it any more.
 */
async function mayRemoveFile(
  services: JobServices,
  replica: StartedReplica,
  { copies_files }: SiteRules,
): Promise<boolean> {
  return !areInBucket(services.blobs) || (copies_files && replica.has_copy && !(await isThere(services, replica)));
}

/** Removes an unwanted copy and its row. */
export async function removeCopy(services: JobServices, replica: StartedReplica, rules: SiteRules): Promise<void> {
  const { replicable, record } = replica;
  if (isRepository(replicable)) await removeRepository(services, replicable, Number(record));
  else if (await mayRemoveFile(services, replica, rules)) await removeFile(services, record);
  await endRemoved(services.db, replica);
}

/** The primary's checksum, if it was computed after the last event. */
const rowOfPrimary = ({ db }: JobServices, { replicable, record, event_id }: StartedReplica) =>
  db
    .selectFrom('geo_checksums')
    .select(['checksum', 'head', 'size_bytes', 'failure', 'is_missing'])
    .where('replicable', '=', replicable)
    .where('record', '=', record)
    .where('checked_at', 'is not', null)
    .where('event_id', '>=', event_id)
    .executeTakeFirst();

const isHere = async (
  services: JobServices,
  { replicable, record }: StartedReplica,
  checksum: string,
): Promise<boolean> =>
  isRepository(replicable)
    ? hasRefs(services, replicable, Number(record), checksum)
    : (await damageOfFile(services, record, checksum)) === undefined;

const copy = (services: JobServices, replica: StartedReplica, expected: Expected, timeout_s: number): Promise<Copied> =>
  whileStarted(services.db, replica, (signal) => {
    const { replicable, record } = replica;
    if (isRepository(replicable)) return copyRepositoryHere(services, { ...replica, replicable }, expected, signal);
    return copyFileHere(services, record, expected, AbortSignal.any([signal, AbortSignal.timeout(1000 * timeout_s)]));
  });

/**
 * If copying a repository fails, the reason may be that the copy is damaged, because git fetches into it incrementally.
 */
async function healIfDamaged(services: JobServices, replica: StartedReplica): Promise<void> {
  const { replicable, record, retry_count } = replica;
  if (!isRepository(replicable) || retry_count === 0) return;
  const damage = await damageOfRepository(services, replicable, Number(record));
  if (damage !== undefined) await healCopy(services.db, replica, damage);
}

/** Updates a wanted copy, and records the outcome in its row. */
export async function bringUpToDate(
  { log, ...services }: JobServices & { log: Logger },
  replica: StartedReplica,
  rules: SiteRules,
): Promise<void> {
  const { db } = services;
  const there = await rowOfPrimary(services, replica);
  if (!there) return endWaiting(db, replica, 'The primary has not computed the checksum yet.');
  if (there.is_missing) return endFailed(db, replica, `The primary has no such ${noun(replica)}.`, true);
  if (there.failure !== null || there.checksum === null)
    return endFailed(db, replica, sentenceOfDamage(there.failure ?? 'it cannot be read'), false);
  const expected = { ...there, checksum: there.checksum };
  if (!replica.is_damaged && (await isHere(services, replica, expected.checksum)))
    return endSynced(db, replica, expected);
  try {
    await endSynced(db, replica, await copy(services, replica, expected, rules.download_timeout_s));
  } catch (error) {
    const { reason, is_missing } = failureOf(error, replica, expected);
    log.debug({ err: error, replicable: replica.replicable, record: replica.record }, 'a copy failed');
    await endFailed(db, replica, reason, is_missing);
    await healIfDamaged(services, replica);
  }
}
