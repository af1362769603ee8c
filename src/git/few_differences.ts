/** Finds the files in which two trees differ without a process, if they are few. */
import { type RawEntry, Tree, tree_mode } from './tree.ts';
import { treeWith } from './trees.ts';
import type { Repository } from './types.ts';

/** git compares larger numbers of files and folders faster. */
const maximum = 10;

export interface FileDifference {
  /** Its bytes as latin1. */
  raw_path: string;
  old: RawEntry | undefined;
  now: RawEntry | undefined;
}

const treeOf = async (repository: Repository, entry: RawEntry | undefined): Promise<Tree> =>
  entry ? treeWith(repository, entry.id) : Tree.empty;

const folderOf = (id: string | undefined): RawEntry | undefined =>
  id === undefined ? undefined : { mode: tree_mode, id };

/**
 * The files that differ between two trees, in git's order.
 * @param trees their ids; without `from`, every file is new
 * @param isPlain whether a folder of one or both trees can be compared without git
 * @returns undefined when there are many, when one is a submodule, or when an entry has changed its type
 */
export async function fewDifferences(
  repository: Repository,
  { from, to }: { from: string | undefined; to: string },
  isPlain: (tree: Tree) => boolean = () => true,
): Promise<FileDifference[] | undefined> {
  const files: FileDifference[] = [];
  const folders: FileDifference[] = [{ raw_path: '', old: folderOf(from), now: folderOf(to) }];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    if (folder.old?.id === folder.now?.id) continue;
    const [before, after] = await Promise.all([treeOf(repository, folder.old), treeOf(repository, folder.now)]);
    if (!isPlain(before) || !isPlain(after)) return undefined;
    for await (const { old, now } of before.differencesTo(after)) {
      const [kind, ...others] = new Set([old, now].flatMap((entry) => entry?.mode.slice(0, 3) ?? []));
      if (others.length > 0 || kind === '160') return undefined;
      const { raw_name } = (now ?? old)!;
      const isFolder = kind === '040';
      (isFolder ? folders : files).push({ raw_path: `${folder.raw_path}${raw_name}${isFolder ? '/' : ''}`, old, now });
      if (files.length + folders.length > maximum) return undefined;
    }
  }
  return files.sort((one, other) => (one.raw_path < other.raw_path ? -1 : 1));
}
