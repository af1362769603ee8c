/** Untrusted repositories of remote systems: how git connects to them, listing their refs, and pushing to them. */
import { rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { peerFloor, slowest_bytes_per_s } from '../foundation/pace.ts';
import { argumentsOf, GitError, OutputTooLong, settingsOf, start } from './command.ts';
import { shareObjects } from './copy.ts';
import { quietFetch } from './fetching.ts';
import { isValidBranchName, isValidTagName } from './ref_names.ts';
import { createRepository, objectFormatOf } from './repository.ts';
import type { Environment, Option, RefUpdate, Repository } from './types.ts';

/** A repository of a remote system that git reaches over HTTP. */
export interface HttpRemote {
  /** http or https, without userinfo. */
  url: string;
  /** The URL of a proxy that decides to which addresses git may connect, with its credential. */
  proxy_url: string;
  /** Undefined if the remote system requires no credential. */
  credential: Credential | undefined;
}

/** Passed to git through a separate descriptor, so that it is in neither its arguments, its environment nor a file. */
export interface Credential {
  username: string;
  password: string;
}

/** A repository that git reaches through this process, which connects to the remote system itself (`throughBridge`). */
export interface BridgedRemote {
  /** The address of the bridge, with its secret. */
  bridge_url: string;
}

export type Remote = HttpRemote | BridgedRemote;

/** The credential helper, which git calls with its request. It answers once. The shell does it without starting another program. */
const helper = `!f() { test "$1" = get && while IFS= read -r line; do printf '%s\\n' "$line"; done <&3; }; f`;

const isLine = (text: string) => !/[\r\n\0]/.test(text);

/** The command for git to reach a bridged repository. The environment holds the address of the bridge, because arguments are visible to every user of the machine. */
const bridged = 'coppice-bridge:';

/** Incoming objects are checked like the objects of a push. */
const checked = {
  'transfer.fsckObjects': 'true',
  'fetch.fsck.badTimezone': 'ignore',
  'fetch.fsck.missingSpaceBeforeDate': 'ignore',
  'fetch.fsck.zeroPaddedFilemode': 'ignore',
  'fetch.unpackLimit': '1',
} as const;

const settingsFor = (remote: Remote): Environment =>
  'bridge_url' in remote
    ? settingsOf({
        [`url.${remote.bridge_url}.insteadOf`]: bridged,
        'protocol.allow': 'never',
        'protocol.git.allow': 'always',
        ...checked,
      })
    : settingsOf({
        'http.proxy': remote.proxy_url,
        'http.proxyAuthMethod': 'basic',
        'http.followRedirects': 'false',
        // git can tell when it waits for the remote system; the proxy cannot.
        'http.lowSpeedLimit': String(slowest_bytes_per_s),
        'http.lowSpeedTime': String(peerFloor.window_ms / 1000),
        'credential.helper': helper,
        'protocol.allow': 'never',
        [`protocol.${new URL(remote.url).protocol.slice(0, -1)}.allow`]: 'always',
        ...checked,
      });

/**
 * The description of a remote for git: its address, its settings, and its input on descriptor 3.
 * @throws GitError for an address that git could misread
 */
export function approachTo(remote: Remote): { address: string; env: Environment; password: string | undefined } {
  const env = settingsFor(remote);
  if ('bridge_url' in remote) return { address: `${bridged}repository`, env, password: undefined };
  const { url, credential } = remote;
  const texts = credential ? [credential.username, credential.password] : [];
  if (!/^https?:\/\/[^\s@]+$/.test(url) || !texts.every(isLine))
    throw new GitError('fetch', 128, 'not a URL and a credential');
  const password = credential ? `username=${credential.username}\npassword=${credential.password}\n` : '';
  return { address: url, env, password };
}

interface Speaking {
  repository?: Repository;
  command: string;
  options: readonly Option[];
  /** Arguments after the address. */
  operands?: readonly string[];
  input?: string;
  /** The most bytes that git may write. */
  limit: number;
  signal: AbortSignal;
}

interface Answer {
  output: string;
  stderr: string;
  /** Null after a signal. */
  code: number | null;
}

/** Runs git until it ends or the signal stops it; so it takes no slot of short commands. */
async function speak(
  remote: Remote,
  { repository, command, options, operands = [], input, limit, signal }: Speaking,
): Promise<Answer> {
  signal.throwIfAborted();
  const { address, env, password } = approachTo(remote);
  const args = argumentsOf(repository, command, options, [address, ...operands]);
  const streams = [
    ...(input === undefined ? [] : ['stdin' as const]),
    ...(password === undefined ? [] : ['channel' as const]),
  ];
  const child = await start(args, { env, streams, group: true });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) stop();
    else chunks.push(chunk);
  });
  // git may end without reading its input.
  child.channel?.on('error', () => {});
  child.stdin?.on('error', () => {});
  if (input !== undefined) child.stdin!.end(input);
  if (password !== undefined) child.channel!.end(password);
  const { code, stderr } = await child.ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (size > limit) throw new OutputTooLong(command, null, `it wrote more than ${limit} bytes`);
  return { output: Buffer.concat(chunks).toString('utf8'), stderr, code };
}

export interface RemoteRefs {
  /** The ids of branches and tags by their full names. */
  refs: Map<string, string>;
  /** The branch that HEAD of the remote system names, if it was requested and exists. */
  head: string | undefined;
  /** The number of refs that were refused for their names. */
  skipped: number;
}

/** The size of about half a million refs. */
const maximumList_bytes = 64 * 1024 * 1024;

const isId = (id: string) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(id);

function isAllowed(ref: string): boolean {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  // A name that is not UTF-8 would be changed.
  if (!kind || ref.includes('\ufffd')) return false;
  return kind === 'heads' ? isValidBranchName(name) : isValidTagName(name);
}

/**
 * The branches and tags of a remote.
 * @param how.head whether its HEAD is requested; the remote then sends all its refs
 * @throws GitError; the reason of the signal
 */
export async function remoteRefs(
  remote: Remote,
  { head: asksHead = false, signal }: { head?: boolean; signal: AbortSignal },
): Promise<RemoteRefs> {
  const options: readonly Option[] = asksHead ? ['--symref'] : ['--heads', '--tags', '--refs'];
  const { output, stderr, code } = await speak(remote, {
    ...{ command: 'ls-remote', options, limit: maximumList_bytes, signal },
  });
  if (code !== 0) throw new GitError('ls-remote', code, stderr);
  const refs = new Map<string, string>();
  let head: string | undefined;
  let skipped = 0;
  for (const line of output.split('\n')) {
    const [id = '', ref = ''] = line.split('\t', 2);
    if (ref === 'HEAD') head ??= /^ref: refs\/heads\/(.+)$/.exec(id)?.[1];
    else if (!/^refs\/(?:heads|tags)\//.test(ref) || ref.endsWith('^{}')) continue;
    else if (isId(id) && isAllowed(ref)) refs.set(ref, id);
    else skipped++;
  }
  return { refs, head: head !== undefined && refs.has(`refs/heads/${head}`) ? head : undefined, skipped };
}

/** The refs that a remote refused, each with its reason. */
export interface Refused {
  ref: string;
  reason: string;
}

/** Arguments have a limit: a name takes 1,024 bytes at most, three times. */
const refsPerPush = 400;

const leaseFor = ({ ref, old }: RefUpdate): Option => `--force-with-lease=${ref}:${old ?? ''}`;
const refspecFor = ({ ref, new: target }: RefUpdate) => `${target ?? ''}:${ref}`;

/**
 * Updates refs of a remote by compare-and-swap: a ref that still has the value `old` is set to `new`, fast-forward or not. New refs come first and deletions last,
 * since a remote may refuse a push as a whole.
 * @returns the refs that the remote refused
 * @throws GitError when it cannot be reached; the reason of the signal
 */
export async function pushToRemote(
  repository: Repository,
  remote: Remote,
  updates: readonly RefUpdate[],
  signal: AbortSignal,
): Promise<Refused[]> {
  const refused: Refused[] = [];
  const kinds = [updates.filter((update) => update.new !== null), updates.filter((update) => update.new === null)];
  for (const some of kinds) {
    for (let at = 0; at < some.length; at += refsPerPush)
      refused.push(...(await pushSome(repository, remote, some.slice(at, at + refsPerPush), signal)));
  }
  return refused;
}

async function pushSome(
  repository: Repository,
  remote: Remote,
  updates: readonly RefUpdate[],
  signal: AbortSignal,
): Promise<Refused[]> {
  const { output, stderr, code } = await speak(remote, {
    repository,
    command: 'push',
    options: ['--porcelain', '--no-verify', '--no-follow-tags', '--recurse-submodules=no', ...updates.map(leaseFor)],
    operands: updates.map(refspecFor),
    limit: maximumList_bytes,
    signal,
  });
  // `!`, source and destination, and the reason; the separators are tabs, which no name contains.
  const refused = output
    .split('\n')
    .filter((line) => line.startsWith('!\t'))
    .map((line) => {
      const [, names = '', reason = ''] = line.split('\t');
      return { ref: names.slice(names.indexOf(':') + 1), reason };
    });
  if (code !== 0 && refused.length === 0) throw new GitError('push', code, stderr);
  // A server gives its reason in lines of its own.
  const said = stderr
    .split('\n')
    .flatMap((line) => /^remote: (.*\S)/.exec(line)?.[1] ?? [])
    .join(' ');
  return refused.map(({ ref, reason }) => ({ ref, reason: said === '' ? reason : `${reason} ${said}` }));
}

/** The quarantine for objects of a remote. */
const incomingOf = ({ path }: Repository): string => join(dirname(path), `.incoming-${basename(path)}`);

/**
 * Fetches refs of a remote into a repository beside another, which sees the objects of that one and is removed at the end. They are checked like the objects of a
 * push.
 * @param target its objects are not fetched again; one fetch at a time
 * @param refs full names
 * @param use processes the fetched refs; `accept` adds their objects to the target
 * @throws GitError; the reason of the signal; errors of `use`
 */
export async function fetchAside<Result>(
  remote: Remote,
  target: Repository,
  { refs, signal }: { refs: readonly string[]; signal: AbortSignal },
  use: (fetched: { quarantine: Repository; accept(): Promise<void> }) => Promise<Result>,
): Promise<Result> {
  const path = incomingOf(target);
  await rm(path, { recursive: true, force: true });
  try {
    const objectFormat = await objectFormatOf(target);
    const quarantine = await createRepository(path, { defaultBranch: 'main', objectFormat });
    await writeFile(join(path, 'objects/info/alternates'), `${join(target.path, 'objects')}\n`);
    const { code, stderr } = await speak(remote, {
      repository: quarantine,
      command: 'fetch',
      options: [...quietFetch, '--stdin'],
      input: refs.map((ref) => `+${ref}:${ref}\n`).join(''),
      limit: maximumList_bytes,
      signal,
    });
    if (code !== 0) throw new GitError('fetch', code, stderr);
    return await use({ quarantine, accept: () => shareObjects(quarantine, target, signal) });
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
