/** Checking the integrity of a repository. */
import { argumentsOf, git, start } from './command.ts';
import type { Environment, Option, Repository } from './types.ts';

const shownProblems = 5;
const maximumOutput = 64 * 1024;

/** Defects that old tools wrote and pushes may bring (see the settings of a repository) do not count as damage. */
const lenient: Environment = {
  GIT_CONFIG_COUNT: '5',
  GIT_CONFIG_KEY_2: 'fsck.badTimezone',
  GIT_CONFIG_VALUE_2: 'ignore',
  GIT_CONFIG_KEY_3: 'fsck.missingSpaceBeforeDate',
  GIT_CONFIG_VALUE_3: 'ignore',
  GIT_CONFIG_KEY_4: 'fsck.zeroPaddedFilemode',
  GIT_CONFIG_VALUE_4: 'ignore',
};

/**
 * Reads every object and follows every ref. It may take long and uses no slot of short commands, so the caller limits concurrency.
 * @returns the first lines of git's error output; empty when there are no problems
 */
export async function fsck(repository: Repository, signal?: AbortSignal): Promise<string[]> {
  const problems = await fsckOnce(repository, [], signal);
  // The first run misses objects that maintenance packs after git has listed them and before it reads them.
  return problems.length === 0 ? problems : await fsckOnce(repository, [], signal);
}

/** The same check, also for content that pushes must not bring, such as files named `.git`, in a repository without concurrent changes. */
export const strictFsck = (repository: Repository, signal: AbortSignal): Promise<string[]> =>
  fsckOnce(repository, ['--strict'], signal);

async function fsckOnce(
  repository: Repository,
  more: readonly Option[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const args = argumentsOf(repository, 'fsck', ['--full', '--no-dangling', '--no-progress', ...more]);
  const process = await start(args, { env: lenient });
  const stop = () => process.kill('SIGKILL');
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  let stdout = '';
  process.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (stdout.length < maximumOutput) stdout += chunk;
  });
  try {
    const { code, stderr } = await process.ended;
    if (code === 0) return [];
    const lines = `${stderr}${stdout}`.split('\n').filter((line) => line !== '' && !line.startsWith('notice: '));
    return lines.length > 0 ? lines.slice(0, shownProblems) : [`git fsck ended with ${code}`];
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

const maximumSearch_ms = 600_000;

/** The newest commit of each line of history that no ref contains. */
export async function danglingCommits(repository: Repository): Promise<string[]> {
  const output = await git(
    repository,
    'fsck',
    ['--connectivity-only', '--dangling', '--no-reflogs', '--no-progress'],
    [],
    [],
    {
      timeout_ms: maximumSearch_ms,
    },
  );
  return Array.from(output.toString('utf8').matchAll(/^dangling commit ([0-9a-f]+)$/gm), ([, id]) => id!);
}
