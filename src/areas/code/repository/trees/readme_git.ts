/** The file that describes a folder. */
import { listTree, type Repository, readCommit } from '../../../../git/index.ts';
import { isMarkdownFile } from '../../../../markdown/index.ts';

/** The README among the names of the files of a folder: one that is rendered goes before others. Undefined where there is none. */
export function readmeAmong(names: readonly string[]): string | undefined {
  const readmes = names.filter((name) => /^readme(\.[a-z]+)?$/i.test(name));
  return readmes.find(isMarkdownFile) ?? readmes[0];
}

/** The README in the top folder of a commit. Links are not followed. */
export async function readmeOf(repository: Repository, commit_id: string): Promise<string | undefined> {
  const { tree_id } = await readCommit(repository, commit_id);
  const listing = await listTree(repository, tree_id);
  const files = listing.entries(0, listing.length).filter(({ type }) => type === 'blob');
  return readmeAmong(files.map(({ name }) => name));
}
