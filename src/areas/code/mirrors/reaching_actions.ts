/** Connects git to the other server of a mirror: through our proxy over HTTP, and through our bridge otherwise; finds its LFS API, and words errors for people. */
import type { Socket } from 'node:net';
import { addAbortSignal, type Duplex } from 'node:stream';
import { type BridgeRequest, GitError, OutputTooLong, type Remote, throughBridge } from '../../../git/index.ts';
import { connectTo, OutboundError, throughProxy } from '../../../outbound/index.ts';
import { runOverSsh, SshRefused } from '../../../ssh/index.ts';
import { headersOf, largeFileAction } from './large_file_rules.ts';
import { keptError, type Login, typeOfKey } from './rules.ts';

export interface Reach {
  /** As stored. */
  url: string;
  login: Login;
  /** The known host keys. If empty, the first key seen becomes the only one. */
  host_keys: readonly string[];
  may_be_local: boolean;
  /** The total number of bytes that the other server may send. */
  most_bytes: number;
  /** Aborts the connection. */
  signal: AbortSignal;
}

/** The LFS API of the other server. */
export interface LargeFileApi {
  url: string;
  /** Credentials for this server; no other server receives them. */
  secret_headers: Record<string, string>;
}

/** Finds the LFS API; undefined if the other server has none, or refuses us. */
export type LargeFileApiFor = (operation: 'download' | 'upload') => Promise<LargeFileApi | undefined>;

interface Reached<Result> {
  result: Result;
  /** The host keys known afterwards. */
  host_keys: readonly string[];
}

const usualPorts: Readonly<Record<string, number>> = { 'ssh:': 22, 'git:': 9418 };

/** A word quoted for the shell of the other server. */
const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Lets git communicate with the other server of a mirror.
 * @throws the errors of `run`; BlockedError, OutboundError and SshRefused if git could not connect; the reason of the signal
 */
export async function reaching<Result>(
  reach: Reach,
  run: (remote: Remote, largeFileApi: LargeFileApiFor) => Promise<Result>,
): Promise<Reached<Result>> {
  const { url, login, may_be_local, most_bytes, signal } = reach;
  signal.throwIfAborted();
  try {
    if (/^https?:/.test(url)) {
      const { username = '', password = '' } = login;
      const credential = username === '' && password === '' ? undefined : { username, password };
      const result = await throughProxy({ url, may_be_local, most_bytes }, (proxy_url) =>
        run({ url, proxy_url, credential }, async () => httpApi(url, login)),
      );
      return { result, host_keys: reach.host_keys };
    }
    const host_keys = [...reach.host_keys];
    const open = (request: BridgeRequest) => openPlain(reach, request, host_keys);
    const largeFileApi: LargeFileApiFor = async (operation) =>
      url.startsWith('ssh:') ? sshApi(reach, operation, host_keys) : undefined;
    const result = await throughBridge({ open, most_bytes }, (remote) => run(remote, largeFileApi));
    return { result, host_keys };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function httpApi(url: string, { username = '', password = '' }: Login): LargeFileApi {
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return {
    url: `${url.replace(/\/+$/, '').replace(/(?:\.git)?$/, '.git')}/info/lfs`,
    secret_headers: username === '' && password === '' ? {} : { authorization: `Basic ${basic}` },
  };
}

/** The output of `git-lfs-authenticate` is short. */
const maximumSaid_bytes = 64 * 1024;

async function saidBy(channel: Duplex, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of addAbortSignal(signal, channel.end())) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maximumSaid_bytes) return '';
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The LFS URL that the other server returns over SSH; connections to it are checked like any other. */
async function sshApi(
  reach: Reach,
  operation: 'download' | 'upload',
  host_keys: string[],
): Promise<LargeFileApi | undefined> {
  const { socket, path } = await connected(reach);
  const line = `git-lfs-authenticate ${quoted(path.replace(/^\//, ''))} ${operation}`;
  try {
    const channel = await overSsh(reach, { socket, host_keys }, { line, protocol: undefined });
    const named = largeFileAction(await saidBy(channel, reach.signal));
    return named && { url: named.href.replace(/\/+$/, ''), secret_headers: headersOf(named) };
  } catch (error) {
    reach.signal.throwIfAborted();
    if (error instanceof OutboundError || error instanceof SshRefused) throw error;
    // The other server does not support the command, or closed the connection.
    return undefined;
  }
}

async function connected({
  url: text,
  may_be_local,
  signal,
}: Reach): Promise<{ url: URL; socket: Socket; path: string }> {
  const url = new URL(text);
  const port = Number(url.port || usualPorts[url.protocol]);
  const socket = await connectTo({ host: url.hostname, port, may_be_local }, signal);
  return { url, socket, path: decodeURIComponent(url.pathname) };
}

/** @param host_keys receives the first key if it is empty */
async function openPlain(reach: Reach, { service, protocol }: BridgeRequest, host_keys: string[]): Promise<Duplex> {
  const { url, socket, path } = await connected(reach);
  if (url.protocol === 'git:') {
    const version = protocol === undefined ? '' : `\0${protocol}\0`;
    const line = `${service} ${path}\0host=${url.host}\0${version}`;
    socket.write(`${(Buffer.byteLength(line) + 4).toString(16).padStart(4, '0')}${line}`);
    return socket;
  }
  return overSsh(reach, { socket, host_keys }, { line: `${service} ${quoted(path)}`, protocol });
}

/** Signs in and runs a command. */
function overSsh(
  { login }: Reach,
  { socket, host_keys }: { socket: Socket; host_keys: string[] },
  command: { line: string; protocol: string | undefined },
): Promise<Duplex> {
  const isHost = (key: Buffer) => {
    const known = `${typeOfKey(key)} ${key.toString('base64')}`;
    if (host_keys.length === 0) host_keys.push(known);
    return host_keys.includes(known);
  };
  const { username = 'git', password, private_key } = login;
  const host_types = [...new Set(host_keys.map((key) => key.split(' ', 1)[0]!))];
  return runOverSsh(socket, { username, password, private_key, host_types, isHost }, command);
}

/** Messages of git, and their explanations for people. */
const meanings: readonly [RegExp, string][] = [
  [/Authentication failed|could not read (?:Username|Password)|terminal prompts disabled/, 'Authentication failed.'],
  [/returned error: 403/, 'The other system refused access (403).'],
  [/not found|returned error: 404/i, 'The repository was not found.'],
  [/returned error: 30\d|redirect/i, 'The other system redirects elsewhere, which is not followed.'],
  [/Operation too slow|timed out/i, 'The other system took too long.'],
];

/** Why a run failed, for people. */
export function reasonFor(error: unknown, login: Login): string {
  if (error instanceof OutboundError || error instanceof SshRefused) return keptError(`${error.message}.`, login);
  if (error instanceof OutputTooLong) return 'The other system has too many refs.';
  if (!(error instanceof GitError)) return 'An internal error ended the run.';
  const meaning = meanings.find(([pattern]) => pattern.test(error.stderr))?.[1];
  if (meaning !== undefined) return meaning;
  const lines = error.stderr.split('\n').filter((line) => /^(?:fatal|error|remote): /.test(line));
  return keptError((lines.length > 0 ? lines : [error.stderr]).join('\n').trim() || 'git failed.', login);
}
