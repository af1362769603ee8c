/** A submodule for tests: where it points to is nowhere, since nothing looks. */
import { git, updateRefs, writeTreeCommit } from '../../src/git/index.ts';
import { headOf, repositoryIn } from './repository.ts';
import type { World } from './world.ts';

/** The commit that the submodule of `addSubmodule` is at. */
export const firstOfSubmodule = '1'.repeat(40);

/** Commits the submodule `libs/press` to the branch `main` of a world's project, which has a commit. */
export async function addSubmodule(here: World): Promise<void> {
  const repository = repositoryIn(here);
  const head = (await headOf(here))!;
  const treeOf = async (entries: string) =>
    (await git(repository, 'mktree', ['--missing'], [], [], { input: entries })).toString().trim();
  const folder = await treeOf(`160000 commit ${firstOfSubmodule}\tpress\n`);
  const files = (await git(repository, 'ls-tree', [], [head])).toString();
  const tree = await treeOf(`${files}040000 tree ${folder}\tlibs\n`);
  const person = { name: 'Ash', email: 'ash@example.com', date: new Date() };
  const commit = { tree_id: tree, parent_ids: [head], message: 'Add a press', author: person, committer: person };
  const id = await writeTreeCommit(repository, commit);
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: head, new: id }]);
}
