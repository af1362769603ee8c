/** Sets the refs of a repository whose objects were restored from a backup. */
import { allRefs, clearBrokenRef, objectHeader, type Repository, setKeptRefs, updateRefs } from '../git/index.ts';
import type { Services } from '../services/index.ts';
import { recordMoves } from './accept_refs.ts';
import { keptTarget } from './check_broken_refs.ts';
import { type RefDifference, shownRef } from './recorded_refs.ts';
import type { RepositoryRow } from './repositories.ts';

/** The repairs, and the remaining losses, as sentences. */
export interface Restored {
  done: string[];
  lost: string[];
}

type Refs = ReadonlyMap<string, string>;

/**
 * Sets refs that are missing or name no object: to the commit of the last push if that exists, otherwise to the commit in the backup. What pushes have deleted since the
 * backup stays deleted.
 * @param kept the refs in the backup, whose objects the repository has
 */
export async function restoreRefs(
  services: Services,
  row: RepositoryRow,
  repository: Repository,
  kept: Refs,
): Promise<Restored> {
  const [current, recorded] = await Promise.all([allRefs(repository), row.kind.recordedRefs(services.db, row.id)]);
  const restored: Restored = { done: [], lost: [] };
  const moves: RefDifference[] = [];
  for (const ref of new Set([...recorded.refs.keys(), ...[...kept.keys()].filter(isPushed)])) {
    const now = current.get(ref) ?? null;
    if (now !== null && (await objectHeader(repository, now))) continue;
    const [pushed, inBackup] = [recorded.refs.get(ref), kept.get(ref)];
    if (pushed === undefined && recorded.isComplete) {
      restored.done.push(`The ${shownRef(ref)} was deleted after the backup and stays so; it was at ${inBackup}.`);
      continue;
    }
    const target = pushed !== undefined && (await objectHeader(repository, pushed)) ? pushed : inBackup;
    if (target === undefined) {
      restored.lost.push(`The ${shownRef(ref)} is younger than the backup, and its commit ${pushed} is lost.`);
      continue;
    }
    if (now === null) await clearBrokenRef(repository, ref);
    await updateRefs(repository, [{ ref, old: now, new: target }]);
    if (target !== pushed) moves.push({ ref, recorded: pushed ?? null, now: target });
    restored.done.push(
      `The ${shownRef(ref)} is at ${target}${target === pushed ? ', where the last push left it' : ', as in the backup'}.`,
    );
  }
  await keepAgain(services, row, repository, { current, kept });
  if (moves.length > 0) await recordMoves(services, row, repository, moves);
  return restored;
}

const isPushed = (ref: string): boolean => /^refs\/(heads|tags)\//.test(ref);

/** Sets the refs of merge requests and the keep-around refs. */
async function keepAgain(
  { db }: Services,
  { id }: RepositoryRow,
  repository: Repository,
  { current, kept }: { current: Refs; kept: Refs },
): Promise<void> {
  const lost = new Map<string, string>();
  for (const [ref, inBackup] of kept) {
    if (current.has(ref) || isPushed(ref)) continue;
    const target = await keptTarget(db, id, ref);
    if (target === undefined) continue;
    await clearBrokenRef(repository, ref);
    lost.set(ref, (await objectHeader(repository, target)) ? target : inBackup);
  }
  await setKeptRefs(repository, lost);
}
