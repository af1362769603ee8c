/** Copying the repositories of a container to another storage, and removing copies (docs/reference/storage_moves.md#how-a-move-runs). */
import { existsSync } from 'node:fs';
import { access, constants, readdir, rename, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../../db/index.ts';
import {
  brokenRefs,
  countObjects,
  deleteRepository,
  duplicate,
  fsck,
  placeOf,
  type Repository,
  refsChecksum,
} from '../../../git/index.ts';
import type { RepositoryServices } from '../../../services/index.ts';
import { forgetCopy, isRecorded, recordCopy, releaseCopy, switchStorage } from './actions.ts';
import type { StorageMove } from './definition.ts';
import { copiesOf, type MovingRepository, movedBy, repositoriesOf } from './queries.ts';
import { damaged, MoveFailed } from './rules.ts';
import { asItsRun } from './run_actions.ts';

/** How long to wait for writes in progress. */
const patience_ms = 30_000;
const pause_ms = 100;

/** How many times a copy is updated because internal refs of the server have changed. */
const maximumRounds = 3;

/** A copy needs this many times the size of its source. */
const spare = 1.1;

/** A repository with its copy. */
interface Pair extends MovingRepository {
  source: Repository;
  copy: Repository;
  /** A path next to the copy, so that a partial copy is never mistaken for a repository. */
  draft: Repository;
}

const repositoryAt = (
  services: RepositoryServices,
  { kind, owner }: MovingRepository,
  storage: string,
): Repository => ({
  path: placeOf(services, { id: owner.id, storage, folder: kind.folder }),
});

const pairOf = (
  services: RepositoryServices,
  moving: MovingRepository,
  { id, runs, source_storage, destination_storage }: StorageMove,
): Pair => {
  const copy = repositoryAt(services, moving, destination_storage);
  // A run that another has taken over may still be writing to its own draft.
  const draft = { path: `${copy.path}.moving-${id}.${runs}` };
  return { ...moving, source: repositoryAt(services, moving, source_storage), copy, draft };
};

/**
 * Copies the repositories of a move, verifies the copies and switches to them.
 * @returns the size of the sources in bytes
 * @throws MoveFailed, GitError, and errors of the file system; then nothing has changed except for copies, which
 * `removeCopies` removes
 */
export async function relocate(services: RepositoryServices, move: StorageMove, signal: AbortSignal): Promise<number> {
  const moving = await repositoriesOf(services, movedBy(move));
  const isThere = move.source_storage === move.destination_storage;
  const pairs = isThere ? [] : moving.map((each) => pairOf(services, each, move));
  try {
    return await copyAndSwitch(services, move, { moving: isThere ? [] : moving, pairs }, signal);
  } finally {
    for (const { draft } of pairs) await rm(draft.path, { recursive: true, force: true });
  }
}

async function copyAndSwitch(
  services: RepositoryServices,
  move: StorageMove,
  { moving, pairs }: { moving: readonly MovingRepository[]; pairs: readonly Pair[] },
  signal: AbortSignal,
): Promise<number> {
  await awaitWrites(services.db, moving, signal);
  let bytes = 0;
  for (const pair of pairs) {
    bytes += await usableSize(services, move, pair);
    await asItsRun(services.db, move, async (tx) => {
      if (!(await isRecorded(tx, pair, move.destination_storage)) && existsSync(pair.copy.path))
        throw new MoveFailed(`The storage ${move.destination_storage} has another copy of the repository.`);
      await recordCopy(tx, pair, move.destination_storage);
      // Leftovers of an earlier run are not trusted.
      await removeFiles(pair);
    });
    await refuseBrokenRefs(pair);
    await duplicate(pair.source, pair.draft, signal);
    await refuseDamage(pair.draft, signal);
    await asItsRun(services.db, move, () => rename(pair.draft.path, pair.copy.path));
  }
  for (let round = 1; !(await switchStorage(services.db, move, moving, () => areSame(pairs))); round++) {
    if (round === maximumRounds) await refuseDifference(pairs);
    // Under the lock of the move: if another run had switched it in the meantime, the copies would be in use.
    await asItsRun(services.db, move, async () => {
      for (const { source, copy } of pairs) {
        await duplicate(source, copy, signal);
        await refuseDamage(copy, signal);
      }
    });
  }
  return bytes;
}

/** @throws MoveFailed if writes that started before the move do not end */
async function awaitWrites(db: Database, moving: readonly MovingRepository[], signal: AbortSignal): Promise<void> {
  for (let waited_ms = 0; ; waited_ms += pause_ms) {
    let busy: MovingRepository | undefined;
    for (const each of moving) {
      const writing = db
        .selectFrom('reference_updates')
        .select('id')
        .where(each.kind.column, '=', each.owner.id)
        .limit(1);
      if ((await writing.executeTakeFirst()) !== undefined) busy = each;
    }
    if (!busy) return;
    if (waited_ms >= patience_ms) throw new MoveFailed(`Timeout waiting for ${busy.kind.name} repository pushes`);
    await sleep(pause_ms, undefined, { signal });
  }
}

/**
 * @returns the size of a source in bytes
 * @throws MoveFailed if a storage cannot be used, or does not have enough space
 */
async function usableSize(
  { storages }: RepositoryServices,
  { source_storage, destination_storage }: StorageMove,
  { source }: Pair,
): Promise<number> {
  const destination = storages[destination_storage]!;
  await access(source.path, constants.R_OK).catch(() => {
    throw new MoveFailed(`The storage ${source_storage} cannot be read.`);
  });
  await access(destination, constants.W_OK).catch(() => {
    throw new MoveFailed(`The storage ${destination_storage} cannot be written to.`);
  });
  const [{ size_bytes }, { bavail, bsize }] = await Promise.all([countObjects(source), statfs(destination)]);
  if (bavail * bsize < size_bytes * spare)
    throw new MoveFailed(`The storage ${destination_storage} has not enough space.`);
  return size_bytes;
}

/** git omits refs that it cannot read, so the copy would lack them. */
async function refuseBrokenRefs({ source }: Pair): Promise<void> {
  const [broken] = await brokenRefs(source);
  if (broken !== undefined) throw new MoveFailed(damaged(`the ref ${broken.replace(/^refs\//, '')} cannot be read`));
}

async function refuseDamage(copy: Repository, signal: AbortSignal): Promise<void> {
  const [damage] = await fsck(copy, signal);
  signal.throwIfAborted();
  if (damage !== undefined) throw new MoveFailed(damaged(damage));
}

const checksums = ({ source, copy }: Pair) => Promise.all([refsChecksum(source), refsChecksum(copy)]);

async function areSame(pairs: readonly Pair[]): Promise<boolean> {
  for (const pair of pairs) {
    const [old, now] = await checksums(pair);
    if (old !== now) return false;
  }
  return true;
}

async function refuseDifference(pairs: readonly Pair[]): Promise<void> {
  for (const pair of pairs) {
    const [old, now] = await checksums(pair);
    if (old !== now)
      throw new MoveFailed(`Failed to verify ${pair.kind.name} repository checksum from ${old} to ${now}`);
  }
}

/** A run that another has taken over may continue to write for a second. */
const patience = { maxRetries: 10, retryDelay: 100 };

/** The copy, and the drafts of all runs. */
async function removeFiles({ copy }: Pair): Promise<void> {
  const folder = path.dirname(copy.path);
  const drafts = (await readdir(folder).catch(() => [])).filter((name) =>
    name.startsWith(`${path.basename(copy.path)}.moving-`),
  );
  for (const name of drafts) await rm(path.join(folder, name), { recursive: true, force: true, ...patience });
  await deleteRepository(copy);
}

/** Removes the copies of a failed move. Copies that cannot be removed become due, and a job tries again. */
export async function removeCopies(
  services: RepositoryServices,
  tx: Database,
  move: StorageMove,
  log: Logger,
): Promise<void> {
  const { source_storage, destination_storage } = move;
  if (source_storage === destination_storage) return;
  for (const moving of await repositoriesOf({ ...services, db: tx }, movedBy(move))) {
    if (!(await isRecorded(tx, moving, destination_storage))) continue;
    try {
      await removeFiles(pairOf(services, moving, move));
    } catch (err) {
      log.warn({ err }, 'a copy is left for a job to remove');
      await releaseCopy(tx, moving, destination_storage);
      continue;
    }
    await forgetCopy(tx, moving, destination_storage);
  }
}

/** Removes the sources of a move after its switch. */
export async function removeSources(services: RepositoryServices, tx: Database, move: StorageMove): Promise<void> {
  for (const moving of copiesOf(services, move)) {
    await deleteRepository(repositoryAt(services, moving, move.source_storage));
    await forgetCopy(tx, moving, move.source_storage);
  }
}
