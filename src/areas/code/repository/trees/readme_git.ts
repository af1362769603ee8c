/** The README of a folder. */
import { listTree, type Repository, readCommit } from '../../../../git/index.ts';
import { isMarkdownFile } from '../../../../markdown/index.ts';

/** The README among the file names of a folder: a rendered format comes before others. Undefined if there is none. */
export function readmeAmong(names: readonly string[]): string | undefined {
  const readmes = names.filter((name) => /^readme(\.[a-z]+)?$/i.test(name));
  return readmes.find(isMarkdownFile) ?? readmes[0];
}

/** The README in the root folder of a commit. Symbolic links are not followed. */
export async function readmeOf(repository: Repository, commit_id: string): Promise<string | undefined> {
  const { tree_id } = await readCommit(repository, commit_id);
  const listing = await listTree(repository, tree_id);
  const files = listing.entries(0, listing.length).filter(({ type }) => type === 'blob');
  return readmeAmong(files.map(({ name }) => name));
}
