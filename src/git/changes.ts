/** Which files differ between two commits or trees. */
import { nextTurn } from '../foundation/loop_turns.ts';
import { readCommit } from './commits.ts';
import { type FileDifference, fewDifferences } from './few_differences.ts';
import { fullId } from './ids.ts';
import { rememberedGit } from './remembered.ts';
import { textOf } from './trees.ts';
import type { ChangedFile, Environment, Repository } from './types.ts';

const statuses: Record<string, ChangedFile['status']> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type_changed',
};

/** About two million files, which is also about the longest string that JavaScript can hold. */
const maximumList = 256 * 1024 * 1024;

/**
 * The files that differ between two commits or trees, in the order of their paths. Without `from`, every file of `to` is added.
 * With `renames`, renames are detected by similarity. Throws `GitError` when an id is neither commit nor tree, `OutputTooLong` for millions of files.
 */
export async function changedFiles(
  repository: Repository,
  {
    from,
    to,
    renames = false,
    env,
  }: { from: string | null; to: string; renames?: boolean; env?: Environment | undefined },
): Promise<ChangedFile[]> {
  const few = env ? undefined : await fewChanges(repository, { from, to, renames });
  if (few) return few;
  const base = from === null ? emptyTree(to) : fullId(from);
  const options = ['-r', '-z', '--raw', '--no-abbrev', renames ? '--find-renames' : '--no-renames'] as const;
  const output = await rememberedGit(repository, 'diff-tree', options, [base, fullId(to)], [], {
    env,
    limit: maximumList,
  });
  return parseRaw(output);
}

const usualModes = new Set(['100644', '100755', '120000']);

/** Whether git shows the modes as they are stored. */
const isUsual = ({ old, now }: FileDifference): boolean =>
  [old, now].every((entry) => entry === undefined || usualModes.has(entry.mode));

/** The changes of two commits without a process, in all cases where git has no choice; undefined in other cases, and for ids that are not commits. */
async function fewChanges(
  repository: Repository,
  { from, to, renames }: { from: string | null; to: string; renames: boolean },
): Promise<ChangedFile[] | undefined> {
  const treeOf = async (id: string) => (await readCommit(repository, id)).tree_id;
  // An object that cannot be read is left to git, which reports why.
  const differences = await Promise.all([from === null ? undefined : treeOf(from), treeOf(to)])
    .then(([old_tree, tree]) => fewDifferences(repository, { from: old_tree, to: tree! }))
    .catch(() => undefined);
  // One file might be the other, renamed.
  const mayBeRenamed = renames && differences?.some(({ old }) => !old) && differences.some(({ now }) => !now);
  if (!differences || mayBeRenamed || !differences.every(isUsual)) return undefined;
  const none = { mode: '000000', id: '0'.repeat(to.length) };
  return differences.map(({ raw_path, old = none, now = none }) => ({
    status: old === none ? 'added' : now === none ? 'deleted' : 'modified',
    old_path: textOf(raw_path),
    old_mode: old.mode,
    old_id: old.id,
    path: textOf(raw_path),
    mode: now.mode,
    id: now.id,
  }));
}

/** git knows the empty tree in every repository, even if it is not stored there. */
export const emptyTree = (like: string): string =>
  like.length === 64
    ? '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
    : '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A few milliseconds of work. */
const filesInTurn = 2_000;

/**
 * `:<old mode> <mode> <old id> <id> <status>`, then the path, or both paths of a rename, each closed by NUL. Other requests are served while a long
 * list is read.
 */
async function parseRaw(output: Buffer): Promise<ChangedFile[]> {
  const files: ChangedFile[] = [];
  let at = 0;
  const nextField = () => {
    const end = output.indexOf(0, at);
    const field = output.toString('utf8', at, end);
    at = end + 1;
    return field;
  };
  while (at < output.length) {
    const [old_mode = '', mode = '', old_id = '', id = '', letter = ''] = nextField().slice(1).split(' ');
    const old_path = nextField();
    const path = letter.startsWith('R') ? nextField() : old_path;
    files.push({ status: statuses[letter.charAt(0)] ?? 'modified', old_path, path, old_mode, mode, old_id, id });
    if (files.length % filesInTurn === 0) await nextTurn();
  }
  return files;
}
