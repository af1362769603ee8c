/** Compares the branches and tags of a repository with the ones recorded in the database. */
import type { Database } from '../db/index.ts';
import { allRefs, clearBrokenRef, type Repository, updateRefs } from '../git/index.ts';
import type { RepositoryRow } from './repositories.ts';

/** A branch or tag that is not where the database has recorded it. */
export interface RefDifference {
  ref: string;
  /** Where the last push left it; null when no push created it. */
  recorded: string | null;
  /** Where it is; null when it is missing. */
  now: string | null;
}

/** Whether no branch is left because pushes deleted them all. */
export async function wereBranchesDeleted(db: Database, { kind, id }: RepositoryRow): Promise<boolean> {
  const { refs, isComplete } = await kind.recordedRefs(db, id);
  return isComplete && ![...refs.keys()].some((ref) => ref.startsWith('refs/heads/'));
}

/** Refs that are missing, elsewhere, or there without having been pushed, in this order. */
export async function refDifferences(
  db: Database,
  { kind, id }: RepositoryRow,
  repository: Repository,
): Promise<RefDifference[]> {
  const [refs, recorded] = await Promise.all([allRefs(repository), kind.recordedRefs(db, id)]);
  const changed = Array.from(recorded.refs, ([ref, target]) => ({ ref, recorded: target, now: refs.get(ref) ?? null }));
  const added = Array.from(refs, ([ref, now]) => ({ ref, recorded: null, now })).filter(
    ({ ref }) => /^refs\/(heads|tags)\//.test(ref) && !recorded.refs.has(ref),
  );
  return [...changed.filter(({ recorded, now }) => recorded !== now), ...(recorded.isComplete ? added : [])];
}

/** What people call a ref: `branch main`, `tag v1`. */
export const shownRef = (ref: string): string =>
  ref.replace(/^refs\/(heads|tags)\//, (_whole, kind) => (kind === 'heads' ? 'branch ' : 'tag '));

/** Sets a missing ref, whose file may be there without an id. */
export async function bringBack(repository: Repository, ref: string, target: string): Promise<void> {
  await clearBrokenRef(repository, ref);
  await updateRefs(repository, [{ ref, old: null, new: target }]);
}
