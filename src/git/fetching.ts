/** Fetching commits and refs from one repository into another. */
import { argumentsOf, GitError, git, start } from './command.ts';
import { fullId } from './ids.ts';
import type { Environment, Option, Repository } from './types.ts';

const maximumFetch_ms = 10 * 60_000;

/**
 * Copies a commit with its history into `target`, where no reference points to it yet.
 * @throws GitError when the source has no such commit
 */
export async function fetchCommit(source: Repository, target: Repository, commit: string): Promise<void> {
  const options = [
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    // Allows commits that no reference names, since a reader of the repository may read all of it.
    "--upload-pack=git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true upload-pack",
  ] as const;
  await git(target, 'fetch', options, [source.path, fullId(commit)], [], { timeout_ms: maximumFetch_ms });
}

/** How refs are fetched. */
interface Fetching {
  options?: readonly Option[];
  env?: Environment;
  /** The input for the credential helper, on descriptor 3. */
  password?: string;
  signal: AbortSignal;
}

/** Restricts a fetch to refs and objects. */
export const quietFetch: readonly Option[] = [
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
];

/**
 * Fetches refs. It may take long, so it takes no slot of short commands.
 * @param from a path or a URL
 * @param options further options; left out, the refs are updated atomically
 * @throws GitError; the reason of the signal
 */
export async function fetchRefs(
  target: Repository,
  from: string,
  refspecs: readonly string[],
  { options = ['--atomic'], env, password, signal }: Fetching,
): Promise<void> {
  signal.throwIfAborted();
  const child = await start(argumentsOf(target, 'fetch', [...quietFetch, ...options], [from, ...refspecs]), {
    ...(env ? { env } : {}),
    streams: password === undefined ? [] : ['channel'],
    group: true,
  });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  child.stdout.resume();
  if (password !== undefined) child.channel!.end(password);
  const { code, stderr } = await child.ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (code !== 0) throw new GitError('fetch', code, stderr, undefined, target.path);
}
