/** The git programs behind smart HTTP and SSH. Requests and replies are streamed in constant memory; callers handle the protocol. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished, Readable, type Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { currentClient } from '../foundation/clients.ts';
import { type Floor, pushFloor, watchSpeed } from '../foundation/pace.ts';
import { Places } from '../foundation/places.ts';
import { advertisedRefs, learnCapabilities, termsOf } from './advertised_refs.ts';
import { argumentsOf, GitError, hooksFrom, outputStream, type StreamRules, settingsOf, start } from './command.ts';
import type { Ending, GitProcess } from './launcher.ts';
import { hasBegun } from './push_beginning.ts';
import { checkHooks, converse, hooks_folder, type PushRules } from './push_hooks.ts';
import type { Environment, Option, Repository } from './types.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

export interface TransportOptions {
  /** The source of the connection, whose processes are limited. */
  client: string;
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
  /** Which refs a fetch sees that are hidden from other clients. */
  sees?: 'all' | 'pipelines';
}

/**
 * Only the server sets refs of merge requests: clients may fetch them, but not push to them. Refs that only keep commits from being deleted are of no use to
 * clients. The names are settings of each process, so that repositories of every age hide them.
 */
const hidden_refs: Readonly<Record<Service, readonly string[]>> = {
  'git-upload-pack': ['refs/keep-around', 'refs/pipelines'],
  'git-receive-pack': ['refs/keep-around', 'refs/merge-requests', 'refs/pipelines'],
};

/** What is hidden from those who see more; the settings of a repository hide `refs/coppice` as well. */
const hiddenFrom: Readonly<Record<NonNullable<ServiceRequest['sees']>, string | readonly string[]>> = {
  all: '!refs/coppice',
  pipelines: ['refs/keep-around'],
};

/** Limits per server process. Six clients that occupy their full share leave places to others, also in the same repository. */
const places = new Places({
  limits: { all: 64, per_repository: 56, per_address: 8, per_person: 24 },
  waiting: 512,
  waiting_per_address: 64,
  wait_ms: 30_000,
});

/** This much of a request must have arrived before git is started; or all of it, which is usual for a fetch. */
const beginning_bytes = 64 * 1024;

/** The minimum rate at which a reply must be read: git waits for its reader, and holds a place meanwhile. */
const readingWindow_ms = 60_000;
const leastRead_bytes = 60 * 1024;

/** The minimum rate of a push once it has a place; until then `pushFloor` applies, which gives a client time to compress. */
const arriving: Floor = { window_ms: 30_000, least_bytes: 30 * 1024 };

/** The client sends its push too slowly. */
export class SlowSender extends Error {
  override name = 'SlowSender';
}

/** The client reads its reply too slowly. */
export class SlowReader extends Error {
  override name = 'SlowReader';
}

/** A push up to this length may be unpacked. */
const small_bytes = 1024 * 1024;

/**
 * git unpacks a push of few objects, however large they are. Large loose objects are compressed again for every clone until maintenance packs them. So a push of
 * unknown or large size is kept as a pack.
 */
const unpacking = (size_bytes: number | undefined): Settings =>
  size_bytes !== undefined && size_bytes <= small_bytes ? {} : { 'receive.unpackLimit': '1' };

type Settings = Parameters<typeof settingsOf>[0];

const protocol_pattern = /^[a-z0-9-]{1,40}(?:=[a-z0-9.-]{1,40})?(?::[a-z0-9-]{1,40}(?:=[a-z0-9.-]{1,40})?){0,9}$/i;

/**
 * The reply to `GET info/refs?service=…`. Media type: `application/x-<service>-advertisement`.
 * Ends with `GitError` when git fails without output.
 */
export function advertiseRefs(
  repository: Repository,
  service: Service,
  { protocol, ...by }: TransportOptions,
): Readable {
  const env = protocolEnvironment(protocol);
  // Protocol 2 advertises no refs, and starts with its version, as in git's own http-backend. Only fetching supports it: a push receives the refs in any case.
  if (service === 'git-upload-pack' && isVersion2(env))
    return Readable.from(capabilities(repository, service, env, by));
  const line = `# service=${service}\n`;
  const head = Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  return Readable.from(refsAdvertised(repository, service, { head, env, by }));
}

/** Written without git once its capabilities are known, except for protocol 1. */
async function* refsAdvertised(
  repository: Repository,
  service: Service,
  { head, env, by }: { head?: Buffer; env: Environment; by: Asking },
): AsyncGenerator<Buffer> {
  const isVersion1 = /version=1/.test(env.GIT_PROTOCOL ?? '');
  const terms = isVersion1 ? undefined : await termsOf(repository, service, hidden_refs[service]);
  const here = terms && (await advertisedRefs(repository, service, terms));
  if (here) {
    if (head) yield head;
    return yield* here;
  }
  let isFirst = true;
  try {
    const advertised = reply(startAdvertising(repository, service, env, by), service, {}, by.signal);
    for await (const chunk of advertised as AsyncIterable<Buffer>) {
      if (isFirst) {
        if (terms) learnCapabilities(terms, chunk);
        if (head) yield head;
      }
      isFirst = false;
      yield chunk;
    }
  } catch (error) {
    if (!by.signal?.aborted) throw error;
  }
}

const startAdvertising = (
  repository: Repository,
  service: Service,
  env: Environment,
  by: Asking,
): Promise<GitProcess> => startService(repository, service, ['--stateless-rpc', '--advertise-refs'], { by, env });

/** Cached capabilities by service, protocol and configuration, which determine them. They expire, since git may be upgraded while a server runs. */
const known_capabilities = new LRUCache<string, Buffer>({ max: 100, ttl: 10 * 60_000 });

async function* capabilities(
  repository: Repository,
  service: Service,
  env: Environment,
  by: Asking,
): AsyncGenerator<Buffer> {
  // A repository that was deleted has none; git reports the error.
  const config = await readFile(join(repository.path, 'config'), 'utf8').catch(() => undefined);
  const key = [service, env.GIT_PROTOCOL, config].join('\0');
  const known = config === undefined ? undefined : known_capabilities.get(key);
  if (known) return yield known;
  const advertised = Buffer.concat(await reply(startAdvertising(repository, service, env, by), service, {}).toArray());
  known_capabilities.set(key, advertised);
  yield advertised;
}

/** The reply to `POST git-upload-pack`: a fetch or a clone. Media type: `application/x-git-upload-pack-result`. */
export function uploadPack(repository: Repository, request: ServiceRequest): Readable {
  const starting = startFetch(repository, request, {
    env: protocolEnvironment(request.protocol),
    settings: request.sees ? { 'uploadpack.hideRefs': hiddenFrom[request.sees] } : {},
    streams: ['stdin'],
  });
  const out = reply(starting, 'git-upload-pack', {}, request.signal);
  void starting.then(
    ({ stdin }) => feed(request.input, stdin!, out),
    () => {},
  ); // the reply ends with the error
  return out;
}

/** The hooks of a push, and its minimum rate. */
type PushRequest = ServiceRequest & PushRules & { begins?: Floor; arrives?: Floor };

/**
 * The reply to `POST git-receive-pack`: a push. Media type: `application/x-git-receive-pack-result`. In a conversation, the refs come before it.
 * Until `check` has accepted the push, a client that disconnects aborts it and no ref is updated; from then on it finishes without
 * the client, so that `moved` is called for every updated ref. Throws when the hooks cannot run, and `NoPlace`; in a conversation, the reply ends with that error.
 */
export async function receivePack(repository: Repository, request: PushRequest): Promise<Readable> {
  await checkHooks();
  return request.is_conversation
    ? Readable.from(pushInTurns(repository, request))
    : pushFrom(repository, request, await beginningOf(request.input, isLong));
}

/** A push whose client receives the refs first. git gets a place when its pack begins to arrive: until then the client compresses, waits for its own hooks, or stalls. */
async function* pushInTurns(repository: Repository, request: PushRequest): AsyncGenerator<Buffer> {
  const { input, protocol, client, signal, begins = pushFloor } = request;
  const by = { client, signal };
  yield* refsAdvertised(repository, 'git-receive-pack', { env: protocolEnvironment(protocol), by });
  const slow = Promise.withResolvers<never>();
  let received_bytes = 0;
  const look = () => ({ isWaiting: true, moved_bytes: received_bytes });
  const stop = watchSpeed(begins, look, () => slow.reject(new SlowSender()));
  const isEnough = (sent: Buffer) => {
    received_bytes = sent.length;
    return hasBegun(sent) || isLong(sent);
  };
  const beginning = await Promise.race([beginningOf(input, isEnough), slow.promise]).finally(stop);
  if (beginning.length > 0) yield* (await pushFrom(repository, request, beginning)) as AsyncIterable<Buffer>;
}

/** @param beginning the bytes of it received so far */
async function pushFrom(
  repository: Repository,
  { check, moved, failed, arrives = arriving, ...request }: PushRequest,
  beginning: Buffer,
): Promise<Readable> {
  let is_accepted = false;
  const started = await startService(repository, 'git-receive-pack', ['--stateless-rpc'], {
    env: { ...protocolEnvironment(request.protocol), ...hooksFrom(hooks_folder) },
    settings: unpacking(request.size_bytes),
    streams: ['stdin', 'channel'],
    by: request,
  });
  started.stdin!.write(beginning);
  const rules = { mustFinish: () => is_accepted, hasSpoken: request.is_conversation };
  const out = reply(Promise.resolve(started), 'git-receive-pack', rules, request.signal);
  const { stdin, channel } = started;
  // Hooks communicate with the server over the channel.
  converse(channel!, { check, moved, failed }, () => {
    is_accepted = true;
  });
  // git is being stopped then, but could still read a verdict first. Without a channel its hook refuses the push.
  out.once('close', () => {
    if (!is_accepted) channel!.destroy();
  });
  feed(request.input, stdin!, out);
  watchSender(request, started, out, arrives);
  return out;
}

/** Aborts a push that stalls or trickles, unless git itself is busy. In a conversation, clients may keep their side open after the pack: git replies once it has all of it. */
function watchSender(
  { input, is_conversation }: ServiceRequest,
  { stdin, stdout }: GitProcess,
  out: Readable,
  floor: Floor,
): void {
  let received_bytes = 0;
  input.on('data', (chunk: Buffer) => {
    received_bytes += chunk.length;
  });
  const silent_bytes = stdout.bytesRead;
  const hasAll = () => input.readableEnded || (is_conversation && stdout.bytesRead > silent_bytes);
  const look = () => ({ isWaiting: !hasAll() && !stdin!.writableNeedDrain, moved_bytes: received_bytes });
  const stop = watchSpeed(floor, look, () => out.destroy(new SlowSender()));
  for (const stream of [input, out]) stream.once('close', stop);
}

/** The client that requests a process, and the signal that cancels the request. */
type Asking = Pick<TransportOptions, 'client' | 'signal'>;

type How = Pick<Parameters<typeof start>[1], 'env' | 'streams'> & { settings?: Settings };

/** Starts git for a fetch once the beginning of the request has arrived: a client that sends nothing costs no process. In a conversation, git sends first. */
async function startFetch(
  repository: Repository,
  { input, is_conversation = false, ...by }: ServiceRequest,
  how: How,
): Promise<GitProcess> {
  const service = 'git-upload-pack';
  if (is_conversation) return startService(repository, service, [], { ...how, by });
  const beginning = await beginningOf(input, isLong);
  const started = await startService(repository, service, ['--stateless-rpc'], { ...how, by });
  started.stdin!.write(beginning);
  return started;
}

const isLong = (sent: Buffer): boolean => sent.length >= beginning_bytes;

/** Reads the request until there is enough of it, or until the end. */
async function beginningOf(input: Readable, isEnough: (sent: Buffer) => boolean): Promise<Buffer> {
  // Clients may send single bytes: no byte is copied twice.
  const sent = Buffer.allocUnsafe(beginning_bytes);
  let size_bytes = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const before = sent.subarray(0, size_bytes);
    size_bytes += chunk.copy(sent, size_bytes);
    if (before.length + chunk.length > size_bytes) return Buffer.concat([before, chunk]);
    if (isEnough(sent.subarray(0, size_bytes))) break;
  }
  return sent.subarray(0, size_bytes);
}

/** @throws NoPlace when there is no place for it */
async function startService(
  repository: Repository,
  service: Service,
  options: readonly Option[],
  { by: { client, signal }, env, settings, ...how }: How & { by: Asking },
): Promise<GitProcess> {
  const person = currentClient()?.person;
  const leave = await places.take({ address: client, person, repository: repository.path }, signal);
  const command = service.slice('git-'.length);
  const hiding = { [`${command.replace('-', '')}.hideRefs`]: hidden_refs[service] };
  try {
    const started = await start(argumentsOf(undefined, command, options, [repository.path]), {
      ...how,
      env: { ...env, ...settingsOf({ ...hiding, ...settings }) },
      group: true,
    });
    void started.ended.then(leave);
    return started;
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * A program that rejects a request reports it in its output, whatever its exit code; without output it has failed.
 * @param rules also tell whether an earlier program has written to the client: git ends silently when it does not understand the client's answer
 */
function reply(
  starting: Promise<GitProcess>,
  service: Service,
  { hasSpoken = false, ...rules }: Omit<StreamRules, 'judge'> & { hasSpoken?: boolean | undefined },
  signal?: AbortSignal,
): Readable {
  const judge = ({ code, stderr }: Ending, wrote: boolean) =>
    code === 0 || wrote || hasSpoken ? undefined : new GitError(service.slice('git-'.length), code, stderr);
  const out = outputStream(starting, { ...rules, judge });
  const abort = () => out.destroy();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  out.once('close', () => signal?.removeEventListener('abort', abort));
  starting.then(
    (started) => watchReader(out, started),
    () => {},
  );
  return out;
}

/** Stops git for a client that does not read, with `SlowReader`. */
function watchReader(out: Readable, { stdout }: GitProcess): void {
  let before_bytes = 0;
  const timer = setInterval(() => {
    const read_bytes = stdout.bytesRead - before_bytes;
    before_bytes = stdout.bytesRead;
    // If the buffer is not full, git itself is slow.
    if (read_bytes < leastRead_bytes && out.readableLength >= out.readableHighWaterMark) out.destroy(new SlowReader());
  }, readingWindow_ms).unref();
  out.once('close', () => clearInterval(timer));
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
