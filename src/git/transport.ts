/** The git programs behind smart HTTP and SSH. Requests and replies are streamed in constant memory; callers handle the protocol. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished, Readable, type Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { advertisedRefs, learnCapabilities, termsOf } from './advertised_refs.ts';
import { argumentsOf, GitError, hooksFrom, outputStream, type StreamRules, settingsOf, start } from './command.ts';
import type { Ending, GitProcess } from './launcher.ts';
import { checkHooks, converse, hooks_folder, type PushRules } from './push_hooks.ts';
import type { Environment, Option, Repository } from './types.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

export interface TransportOptions {
  /** The `Git-Protocol` header. One that is not a list of keys and `key=value` pairs counts as none. */
  protocol?: string | undefined;
  /** Stops git, for example when the client disconnects. */
  signal?: AbortSignal | undefined;
}

export interface ServiceRequest extends TransportOptions {
  /** The decompressed body of the request. */
  input: Readable;
  /** Length of the body, if known: clients send long bodies in chunks, without a total. */
  size_bytes?: number | undefined;
  /** Whether client and server speak in turns on one connection, as over SSH; otherwise a request has one reply. */
  is_conversation?: boolean;
}

/**
 * Refs of merge requests are ours to set: clients may fetch them, and push to none. Refs that only keep commits from being deleted are of no use to clients.
 * The names are settings of each process, so that repositories of every age hide them.
 */
const hidden_refs: Readonly<Record<Service, readonly string[]>> = {
  'git-upload-pack': ['refs/keep-around'],
  'git-receive-pack': ['refs/keep-around', 'refs/merge-requests'],
};

/** A push up to this length may be unpacked. */
const small_bytes = 1024 * 1024;

/**
 * git unpacks a push of few objects, however large they are. Large loose objects are compressed again for every clone until maintenance packs
 * them. So a push that is not known to be small is kept as a pack.
 */
const unpacking = (size_bytes: number | undefined): Settings =>
  size_bytes !== undefined && size_bytes <= small_bytes ? {} : { 'receive.unpackLimit': '1' };

type Settings = Parameters<typeof settingsOf>[0];

const protocol_pattern = /^[a-z0-9-]{1,40}(?:=[a-z0-9.-]{1,40})?(?::[a-z0-9-]{1,40}(?:=[a-z0-9.-]{1,40})?){0,9}$/i;

/**
 * The reply to `GET info/refs?service=…`. Media type: `application/x-<service>-advertisement`.
 * Ends with `GitError` when git fails without output.
 */
export function advertiseRefs(repository: Repository, service: Service, { protocol, signal }: TransportOptions = {}): Readable {
  const env = protocolEnvironment(protocol);
  // Protocol 2 advertises no refs, and starts with its version, as git's own http-backend does.
  // Only fetching has it: git tells a push the refs in any case.
  if (service === 'git-upload-pack' && isVersion2(env)) return Readable.from(capabilities(repository, service, env));
  const line = `# service=${service}\n`;
  const head = Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  if (/version=1/.test(env.GIT_PROTOCOL ?? ''))
    return reply(startAdvertising(repository, service, env), service, { head }, signal);
  return Readable.from(refsAdvertised(repository, service, { head, env, signal }));
}

/** Without git once its capabilities are known. */
async function* refsAdvertised(
  repository: Repository,
  service: Service,
  { head, env, signal }: { head: Buffer; env: Environment; signal: AbortSignal | undefined },
): AsyncGenerator<Buffer> {
  const terms = await termsOf(repository, service, hidden_refs[service]);
  const here = terms && (await advertisedRefs(repository, service, terms));
  if (here) {
    yield head;
    return yield* here;
  }
  let isFirst = true;
  try {
    for await (const chunk of reply(startAdvertising(repository, service, env), service, {}, signal) as AsyncIterable<Buffer>) {
      if (isFirst) {
        if (terms) learnCapabilities(terms, chunk);
        yield head;
      }
      isFirst = false;
      yield chunk;
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

const startAdvertising = (repository: Repository, service: Service, env: Environment): Promise<GitProcess> =>
  startService(repository, service, ['--stateless-rpc', '--advertise-refs'], { env });

/** By service, protocol and configuration, which decide them; for a while, since git may be upgraded beneath a server. */
const known_capabilities = new LRUCache<string, Buffer>({ max: 100, ttl: 10 * 60_000 });

async function* capabilities(repository: Repository, service: Service, env: Environment): AsyncGenerator<Buffer> {
  // A repository that is gone has none; git says so.
  const config = await readFile(join(repository.path, 'config'), 'utf8').catch(() => undefined);
  const key = [service, env.GIT_PROTOCOL, config].join('\0');
  const known = config === undefined ? undefined : known_capabilities.get(key);
  if (known) return yield known;
  const advertised = Buffer.concat(await reply(startAdvertising(repository, service, env), service, {}).toArray());
  known_capabilities.set(key, advertised);
  yield advertised;
}

/** The reply to `POST git-upload-pack`: a fetch or a clone. Media type: `application/x-git-upload-pack-result`. */
export function uploadPack(repository: Repository, { input, protocol, signal, is_conversation }: ServiceRequest): Readable {
  const env = protocolEnvironment(protocol);
  const starting = startService(repository, 'git-upload-pack', formOf(is_conversation), { env, streams: ['stdin'] });
  const out = reply(starting, 'git-upload-pack', {}, signal);
  void starting.then(
    ({ stdin }) => feed(input, stdin!, out),
    () => {},
  ); // The reply ends with the error.
  return out;
}

/**
 * The reply to `POST git-receive-pack`: a push. Media type: `application/x-git-receive-pack-result`.
 * Until `check` has accepted the push, a client that disconnects aborts it and no ref is updated; from then on it finishes without
 * the client, so that `moved` is called for every updated ref. Throws when the hooks cannot run.
 */
export async function receivePack(
  repository: Repository,
  { input, size_bytes, protocol, signal, is_conversation, ...rules }: ServiceRequest & PushRules,
): Promise<Readable> {
  await checkHooks();
  let is_accepted = false;
  const starting = startService(repository, 'git-receive-pack', formOf(is_conversation), {
    env: { ...protocolEnvironment(protocol), ...hooksFrom(hooks_folder) },
    settings: unpacking(size_bytes),
    streams: ['stdin', 'channel'],
  });
  const out = reply(starting, 'git-receive-pack', { mustFinish: () => is_accepted }, signal);
  const { stdin, channel } = await starting;
  // Hooks talk to us over the channel.
  converse(channel!, rules, () => {
    is_accepted = true;
  });
  // git is being stopped then, but could still read a verdict first. Without a channel its hook refuses.
  out.once('close', () => {
    if (!is_accepted) channel!.destroy();
  });
  feed(input, stdin!, out);
  return out;
}

const formOf = (isConversation = false): readonly Option[] => (isConversation ? [] : ['--stateless-rpc']);

function startService(
  repository: Repository,
  service: Service,
  options: readonly Option[],
  { env, settings, ...how }: Pick<Parameters<typeof start>[1], 'env' | 'streams'> & { settings?: Settings },
): Promise<GitProcess> {
  const command = service.slice('git-'.length);
  const hiding = { [`${command.replace('-', '')}.hideRefs`]: hidden_refs[service] };
  return start(argumentsOf(undefined, command, options, [repository.path]), {
    ...how,
    env: { ...env, ...settingsOf({ ...hiding, ...settings }) },
    group: true,
  });
}

/** A program that rejects a request says so in its output, whatever its exit code; without output it has failed. */
function reply(
  starting: Promise<GitProcess>,
  service: Service,
  rules: Omit<StreamRules, 'judge'>,
  signal?: AbortSignal,
): Readable {
  const judge = ({ code, stderr }: Ending, wrote: boolean) =>
    code === 0 || wrote ? undefined : new GitError(service.slice('git-'.length), code, stderr);
  const out = outputStream(starting, { ...rules, judge });
  const abort = () => out.destroy();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  out.once('close', () => signal?.removeEventListener('abort', abort));
  return out;
}

/** Passes the request to git. If the request is aborted, so is the reply. */
function feed(input: Readable, stdin: Writable, out: Readable): void {
  finished(input, { writable: false }, (error) => {
    if (error) out.destroy(error);
  });
  stdin.on('error', () => {
    // git has stopped reading and its reply is on the way. Draining the request keeps the connection usable.
    input.unpipe(stdin);
    input.resume();
  });
  input.pipe(stdin);
}

const protocolEnvironment = (protocol: string | undefined): Environment =>
  protocol !== undefined && protocol_pattern.test(protocol) ? { GIT_PROTOCOL: protocol } : {};

const isVersion2 = (env: Environment): boolean => env.GIT_PROTOCOL?.split(':').includes('version=2') ?? false;
