/** How git reaches the other side of a mirror: through our proxy over HTTP, and through our bridge otherwise; and where its large files are. What fails is put into words here. */
import type { Socket } from 'node:net';
import { addAbortSignal, type Duplex } from 'node:stream';
import { type BridgeRequest, GitError, OutputTooLong, type Remote, throughBridge } from '../../../git/index.ts';
import { connectTo, OutboundError, throughProxy } from '../../../outbound/index.ts';
import { runOverSsh, SshRefused } from '../../../ssh/index.ts';
import { headersOf, largeFileAction } from './large_file_rules.ts';
import { keptError, type Login, typeOfKey } from './rules.ts';

export interface Reach {
  /** As it is stored. */
  url: string;
  login: Login;
  /** Those that are known. Without any, the first that is seen becomes the only one. */
  host_keys: readonly string[];
  may_be_local: boolean;
  /** What the other system may send altogether. */
  most_bytes: number;
  /** Ends it. */
  signal: AbortSignal;
}

/** The API for large files of the other side. */
export interface LargeFileApi {
  url: string;
  /** With what it recognizes us; nobody else gets it. */
  secret_headers: Record<string, string>;
}

/** Finds the API for large files; undefined when the other side has none, or not for us. */
export type LargeFileApiFor = (operation: 'download' | 'upload') => Promise<LargeFileApi | undefined>;

interface Reached<Result> {
  result: Result;
  /** Those that are known now. */
  host_keys: readonly string[];
}

const usualPorts: Readonly<Record<string, number>> = { 'ssh:': 22, 'git:': 9418 };

/** A word of a command for the shell of the other system. */
const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Lets git speak to the other side of a mirror.
 * @throws what `run` throws; BlockedError, OutboundError and SshRefused for what kept git from it; the reason of the signal
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

/** What `git-lfs-authenticate` says is short. */
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

/** The address that the other side names over SSH; the connections to it are checked as those to any other address. */
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
    // The other side does not run the command, or ended the connection.
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

/** @param host_keys gets the first one if it is empty */
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

/** What git says, and what it means for people. */
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
