/** Output of git that only object ids decide. It is cached: the objects with these ids never change. */
import { LRUCache } from 'lru-cache';
import { git, type RunOptions } from './command.ts';
import type { Option, Repository } from './types.ts';

const longest_kept = 256 * 1024;
const outputs = new LRUCache<string, Buffer>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: (output, key) => 200 + output.length + key.length * 2,
});

/**
 * Like `git`, with the output of an earlier run if there was one. Failures are not kept.
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
  if (run.env) return git(repository, command, options, operands, paths, run);
  const key = [repository.path, command, ...options, '', ...operands, '', ...paths].join('\0');
  const known = outputs.get(key);
  if (known) return known;
  const output = await git(repository, command, options, operands, paths, run);
  if (output.length <= longest_kept) outputs.set(key, output);
  return output;
}
