/** Caches the output of git commands that depend only on object ids: the objects with these ids never change. */
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
 * Like `git`, but returns the output of an earlier run if there was one, or of a running one. Failures are not cached.
 * @param operands full object ids, perhaps with an operator, so that the output does not depend on refs; the options must not name refs either
 * @param run with the environment of a push in quarantine, nothing is cached: its objects may never reach the repository
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
