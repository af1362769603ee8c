/** The git programs behind smart HTTP and SSH. Requests and replies are streamed in constant memory; callers handle the protocol. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished, Readable, type Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { currentClient } from '../foundation/clients.ts';
import { type Floor, watchSpeed } from '../foundation/pace.ts';
import { Places } from '../foundation/places.ts';
import { advertisedRefs, learnCapabilities, termsOf } from './advertised_refs.ts';
import { argumentsOf, GitError, hooksFrom, outputStream, type StreamRules, settingsOf, start } from './command.ts';
import type { Ending, GitProcess } from './launcher.ts';
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
  /** Whether a fetch sees every ref, also those that are hidden from clients. */
  sees_all?: boolean;
}

/**
 * Refs of merge requests are ours to set: clients may fetch them, and push to none. Refs that only keep commits from being deleted are of no use to clients.
 * The names are settings of each process, so that repositories of every age hide them.
 */
const hidden_refs: Readonly<Record<Service, readonly string[]>> = {
  'git-upload-pack': ['refs/keep-around'],
  'git-receive-pack': ['refs/keep-around', 'refs/merge-requests'],
};

/** What the settings of a repository hide as well. */
const shown_refs = '!refs/coppice';

/** Of each process that serves clients. Six clients that occupy all they can leave places to others, also in the same repository. */
const places = new Places({
  limits: { all: 64, per_repository: 56, per_address: 8, per_person: 24 },
  waiting: 512,
  waiting_per_address: 64,
  wait_ms: 30_000,
});

/** Of a request, so much has arrived before git is started; or all of it, which is usual for a fetch. */
const beginning_bytes = 64 * 1024;

/** How much of a reply must be read in a time: git waits for its reader, and has a place meanwhile. */
const readingWindow_ms = 60_000;
const leastRead_bytes = 60 * 1024;

/** How fast a push must arrive once it has a place; until then the pace of its door counts, which lets a client compress in peace. */
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
export function advertiseRefs(
  repository: Repository,
  service: Service,
  { protocol, ...by }: TransportOptions,
): Readable {
  const env = protocolEnvironment(protocol);
  // Protocol 2 advertises no refs, and starts with its version, as git's own http-backend does.
  // Only fetching has it: git tells a push the refs in any case.
  if (service === 'git-upload-pack' && isVersion2(env))
    return Readable.from(capabilities(repository, service, env, by));
  const line = `# service=${service}\n`;
  const head = Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  if (/version=1/.test(env.GIT_PROTOCOL ?? ''))
    return reply(startAdvertising(repository, service, env, by), service, { head }, by.signal);
  return Readable.from(refsAdvertised(repository, service, { head, env, by }));
}

/** Without git once its capabilities are known. */
async function* refsAdvertised(
  repository: Repository,
  service: Service,
  { head, env, by }: { head: Buffer; env: Environment; by: Asking },
): AsyncGenerator<Buffer> {
  const terms = await termsOf(repository, service, hidden_refs[service]);
  const here = terms && (await advertisedRefs(repository, service, terms));
  if (here) {
    yield head;
    return yield* here;
  }
  let isFirst = true;
  try {
    const advertised = reply(startAdvertising(repository, service, env, by), service, {}, by.signal);
    for await (const chunk of advertised as AsyncIterable<Buffer>) {
      if (isFirst) {
        if (terms) learnCapabilities(terms, chunk);
        yield head;
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

/** By service, protocol and configuration, which decide them; for a while, since git may be upgraded beneath a server. */
const known_capabilities = new LRUCache<string, Buffer>({ max: 100, ttl: 10 * 60_000 });

async function* capabilities(
  repository: Repository,
  service: Service,
  env: Environment,
  by: Asking,
): AsyncGenerator<Buffer> {
  // A repository that is gone has none; git says so.
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
  const starting = startAnswering(repository, 'git-upload-pack', request, {
    env: protocolEnvironment(request.protocol),
    settings: request.sees_all ? { 'uploadpack.hideRefs': shown_refs } : {},
    streams: ['stdin'],
  });
  const out = reply(starting, 'git-upload-pack', {}, request.signal);
  void starting.then(
    ({ stdin }) => feed(request.input, stdin!, out),
    () => {},
  ); // The reply ends with the error.
  return out;
}

/**
 * The reply to `POST git-receive-pack`: a push. Media type: `application/x-git-receive-pack-result`.
 * Until `check` has accepted the push, a client that disconnects aborts it and no ref is updated; from then on it finishes without
 * the client, so that `moved` is called for every updated ref. Throws when the hooks cannot run, and `NoPlace`.
 */
export async function receivePack(
  repository: Repository,
  { check, moved, failed, arrives = arriving, ...request }: ServiceRequest & PushRules & { arrives?: Floor },
): Promise<Readable> {
  await checkHooks();
  let is_accepted = false;
  const started = await startAnswering(repository, 'git-receive-pack', request, {
    env: { ...protocolEnvironment(request.protocol), ...hooksFrom(hooks_folder) },
    settings: unpacking(request.size_bytes),
    streams: ['stdin', 'channel'],
  });
  const out = reply(Promise.resolve(started), 'git-receive-pack', { mustFinish: () => is_accepted }, request.signal);
  const { stdin, channel } = started;
  // Hooks talk to us over the channel.
  converse(channel!, { check, moved, failed }, () => {
    is_accepted = true;
  });
  // git is being stopped then, but could still read a verdict first. Without a channel its hook refuses.
  out.once('close', () => {
    if (!is_accepted) channel!.destroy();
  });
  feed(request.input, stdin!, out);
  watchSender(request, stdin!, out, arrives);
  return out;
}

/** Ends a push that stalls or trickles, unless it is git that takes its time. In a conversation, a client compresses after git has begun to speak, and before it has sent much. */
function watchSender({ input, is_conversation }: ServiceRequest, stdin: Writable, out: Readable, floor: Floor): void {
  let received_bytes = is_conversation ? 0 : beginning_bytes;
  input.on('data', (chunk: Buffer) => {
    received_bytes += chunk.length;
  });
  const look = () => ({
    isWaiting: received_bytes >= beginning_bytes && !input.readableEnded && !stdin.writableNeedDrain,
    moved_bytes: received_bytes,
  });
  const stop = watchSpeed(floor, look, () => out.destroy(new SlowSender()));
  for (const stream of [input, out]) stream.once('close', stop);
}

/** Who asks for a process, and until when. */
type Asking = Pick<TransportOptions, 'client' | 'signal'>;

type How = Pick<Parameters<typeof start>[1], 'env' | 'streams'> & { settings?: Settings };

/** Starts git for a request, with the beginning of it: a client that sends nothing costs no process. In a conversation, git speaks first. */
async function startAnswering(
  repository: Repository,
  service: Service,
  { input, is_conversation = false, ...by }: ServiceRequest,
  how: How,
): Promise<GitProcess> {
  const beginning = is_conversation ? [] : await beginningOf(input);
  const started = await startService(repository, service, is_conversation ? [] : ['--stateless-rpc'], { ...how, by });
  for (const chunk of beginning) started.stdin!.write(chunk);
  return started;
}

async function beginningOf(input: Readable): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size_bytes += chunk.length;
    if (size_bytes >= beginning_bytes) break;
  }
  return chunks;
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
    // With a buffer that is not full, it is git that takes its time.
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
