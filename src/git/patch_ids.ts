/** Identifies the content of a diff: the id is the same for the same changes on top of different commits. */
import { emptyTree } from './changes.ts';
import { gitStream } from './command.ts';
import { fullId } from './ids.ts';
import type { Repository } from './types.ts';

/**
 * The id of the changes between two commits (git-patch-id, stable); undefined when there are none.
 * @param range from null, every file of `to` is new
 * @throws GitError when an id is no commit
 */
export async function patchId(
  repository: Repository,
  { from, to }: { from: string | null; to: string },
): Promise<string | undefined> {
  const sides = [from === null ? emptyTree(to) : fullId(from), fullId(to)];
  const source = gitStream(
    repository,
    'diff-tree',
    ['-r', '-p', '--no-renames', '--no-ext-diff', '--no-textconv'],
    sides,
    [],
    { reader: 'server' },
  );
  const output = await gitStream(repository, 'patch-id', ['--stable'], [], [], { reader: 'server', source }).toArray();
  return /^[0-9a-f]+/.exec(Buffer.concat(output).toString('latin1'))?.[0];
}
