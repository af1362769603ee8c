/** Short walks through commits and trees that are mostly cached, with the same results as git's own walk. */
import { LRUCache } from 'lru-cache';
import { nextTurn } from '../foundation/loop_turns.ts';
import { keptCommit, readCommit } from './commits.ts';
import { entryAt } from './files.ts';
import { isTreeKept } from './trees.ts';
import type { Commit, Repository } from './types.ts';

/** git reads larger numbers of uncached commits and root folders faster. */
const maximumReads = 4;
const maximumSteps = 200;
/** The limit for cached changes, which take almost no time compared with these. */
const maximumWritten = 10_000;
const steps_per_turn = 500;
/** The maximum number of paths that are kept for a commit. */
const maximumPaths = 100;

/** Commits that this process has written: their only parent, and the paths that they may have changed. */
const written = new LRUCache<string, { parent: string; paths: readonly string[] }>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: ({ paths }) => paths.reduce((size, path) => size + 50 + path.length, 400),
});

/** Records the paths that a new commit may have changed. */
export function keepPaths(
  repository: Repository,
  id: string,
  change: { parent: string; paths: readonly string[] },
): void {
  if (change.paths.length <= maximumPaths) written.set(`${repository.path}\0${id}`, change);
}

const areRelated = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/** The parent of a commit, if it certainly has the same content at the path. */
function writtenParent(repository: Repository, id: string, path: string): string | undefined {
  const commit = written.get(`${repository.path}\0${id}`);
  return commit?.paths.some((changed) => areRelated(changed, path)) ? undefined : commit?.parent;
}

/** Reads commits until too many objects were not cached. */
class CommitReader {
  readonly #repository: Repository;
  #reads = 0;

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  async read(id: string): Promise<Commit | undefined> {
    const kept = keptCommit(this.#repository, id);
    if (kept) return kept;
    // An object that cannot be read is left to git, which reports why.
    return this.#reads++ < maximumReads ? readCommit(this.#repository, id).catch(() => undefined) : undefined;
  }

  /** Like `read`, for a commit whose folders are read, too. */
  async readWithTree(id: string): Promise<Commit | undefined> {
    const commit = await this.read(id);
    if (!commit || isTreeKept(this.#repository, commit.tree_id)) return commit;
    return this.#reads++ < maximumReads ? commit : undefined;
  }
}

/**
 * The newest commits from `start` on, in git's default order: of all pending commits, the one with the latest committer date comes next.
 * @returns the ids of `count` commits, or fewer where the history ends; undefined when git must walk
 */
export async function newestCommits(
  repository: Repository,
  start: string,
  { count, first_parent }: { count: number; first_parent: boolean },
): Promise<string[] | undefined> {
  if (count > maximumSteps) return undefined;
  const reader = new CommitReader(repository);
  const ids: string[] = [];
  const queue: Commit[] = [];
  const seen = new Set<string>();
  for (let next: string[] = [start]; ids.length < count; ) {
    for (const id of next) {
      if (seen.has(id)) continue;
      seen.add(id);
      const commit = await reader.read(id);
      // git has its own order for dates that it cannot parse.
      if (!commit || Date.parse(commit.committed_date) <= 0) return undefined;
      const at = queue.findIndex((other) => other.committed_date < commit.committed_date);
      queue.splice(at < 0 ? queue.length : at, 0, commit);
    }
    const newest = queue.shift();
    if (!newest) return ids;
    ids.push(newest.id);
    next = ids.length === count ? [] : newest.parent_ids.slice(0, first_parent ? 1 : undefined);
  }
  return ids;
}

/**
 * Follows the history of a path from a commit that has it, as git does: to the first parent with the same content at the path.
 * @param isKnown whether the walk may end at a commit
 * @returns the commit at which the walk ended, and whether that is the last one that touched the path; undefined when the path does not exist, or not in git's
 * canonical form
 */
export async function followPath(
  repository: Repository,
  start: string,
  { path, isKnown }: { path: string; isKnown: (commit: string) => boolean },
): Promise<{ id: string; isLast: boolean } | undefined> {
  const reader = new CommitReader(repository);
  const same = await entryAt(repository, start, path).catch(() => undefined);
  if (!same) return undefined;
  let id = start;
  for (let [step, read] = [0, 0]; step < maximumWritten && read < maximumSteps && !isKnown(id); step++) {
    if (step % steps_per_turn === steps_per_turn - 1) await nextTurn();
    const parent = writtenParent(repository, id, path);
    if (parent !== undefined) {
      id = parent;
      continue;
    }
    read++;
    const commit = await reader.read(id);
    if (!commit) break;
    let followed: string | undefined;
    for (const parent of commit.parent_ids) {
      if (!(await reader.readWithTree(parent))) return { id, isLast: false };
      const entry = await entryAt(repository, parent, path);
      if (entry?.id !== same.id || entry.mode !== same.mode) continue;
      followed = parent;
      break;
    }
    if (followed === undefined) return { id, isLast: true };
    id = followed;
  }
  return { id, isLast: false };
}
