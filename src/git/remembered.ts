/** Output of git that only object ids decide. It is cached: the objects with these ids never change. */
import { answersOf } from '../foundation/caches.ts';
import { git, type RunOptions } from './command.ts';
import type { Option, Repository } from './types.ts';

type GitArguments = Parameters<typeof git>;

const maximumKept = 256 * 1024;
const outputs = answersOf<GitArguments, Buffer>((asked) => git(...asked), {
  maxSize: 32 * 1024 * 1024,
  maxEntrySize: maximumKept,
  sizeCalculation: (output, key) => 200 + output.length + key.length * 2,
});

/**
 * Like `git`, with the output of an earlier run if there was one, or of one that is under way. Failures are not kept.
 * @param operands full object ids, perhaps with an operator, so that nothing that moves decides the output; neither may the options name refs
 * @param run with the environment of a push in quarantine, nothing is kept: its objects may never reach the repository
 */
export async function rememberedGit(
  repository: Repository,
  command: string,
  options: readonly Option[],
  operands: readonly string[],
  paths: readonly string[] = [],
  run: Pick<RunOptions, 'env' | 'limit'> = {},
): Promise<Buffer> {
  const asked: GitArguments = [repository, command, options, operands, paths, run];
  if (run.env) return git(...asked);
  const key = [repository.path, command, ...options, '', ...operands, '', ...paths].join('\0');
  return (await outputs.fetch(key, { context: asked }))!;
}
