/** Reads files that list dependencies in a thread of its own, with limits of time and memory: they are large, and anyone can have written them. */
import { Worker } from 'node:worker_threads';
import { programFile } from '../installation.ts';
import { type Entry, type FileBytes, TooCostly, Unreadable } from './entries.ts';

/** A file that lists dependencies. */
export interface ToReadListing extends FileBytes {
  id: number;
  /** Whether it is an uploaded bill of materials, whatever its path. */
  is_document: boolean;
  parents: readonly FileBytes[];
}

/** Files that tell the licenses of packages. */
export interface ToReadLicenses {
  id: number;
  files: readonly FileBytes[];
}

export type ToReader = ToReadListing | ToReadLicenses;

/**
 * Some packages of a file, ready for the database: for each member, a JSON array of its values. Licenses are written as PostgreSQL writes an array of texts. The
 * database reads such columns in a tenth of the time that as many objects take.
 */
export type Portion = Record<keyof Entry, string>;

/** What a file lists. */
export interface ReadFile {
  /** The packages, up to 10,000 in each portion. */
  portions: Portion[];
  count: number;
  /** Paths of other files that this one includes, from the top of the repository. */
  includes: string[];
  /** The path of a parent that was not given. With it, the file may list more. */
  wants?: string;
}

/** For licenses, what each file declares, as JSON arrays of `DeclaredLicenses`. */
type Answer = ReadFile | string[];

export type FromReader = { id: number; answer: Answer } | { id: number; reason: string };

/** The largest file that is read. */
export const largestListing_bytes = 32 * 1024 * 1024;
const longest_ms = 20_000;
const heap_mib = 512;
/** The thread keeps the memory of the largest file, so an idle one is ended after this time. */
const idle_ms = 30_000;

interface Call {
  request: ToReader;
  answer: PromiseWithResolvers<Answer>;
}

/** In order; the thread has only the first, so that the limit of time is about one file. */
const calls: Call[] = [];
let lastId = 0;
let thread: Worker | undefined;
let timer: NodeJS.Timeout | undefined;

function start(): Worker {
  const started = new Worker(programFile('lockfiles/reading_worker'), { resourceLimits: { maxOldGenerationSizeMb: heap_mib } });
  started.on('message', (message: FromReader) => {
    if (thread === started) receive(message);
  });
  started.on('error', (error) =>
    replace(started, isOutOfMemory(error) ? new TooCostly('Reading it takes too much memory.') : error),
  );
  started.on('exit', () => replace(started, new Error('The thread that reads lock files ended.')));
  return started;
}

const isOutOfMemory = (error: Error) => 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Gives the thread the next file, or lets it rest. */
function advance(): void {
  clearTimeout(timer);
  const [call] = calls;
  if (!call) {
    const resting = thread;
    resting?.unref();
    timer = setTimeout(() => resting && replace(resting, new Error('The thread rested.')), idle_ms).unref();
    return;
  }
  thread ??= start();
  const busy = thread;
  busy.ref();
  timer = setTimeout(() => replace(busy, new TooCostly('Reading it takes too long.')), longest_ms);
  busy.postMessage(call.request);
}

/** Starts the thread, if it is not there, so that it is ready when the file is that the caller is about to fetch. */
export function wakeReader(): void {
  if (thread !== undefined || calls.length > 0) return;
  thread = start();
  advance();
}

function receive(message: FromReader): void {
  const call = calls.shift();
  if (call?.request.id !== message.id) throw new Error('The thread that reads lock files answered out of turn.');
  if ('answer' in message) call.answer.resolve(message.answer);
  else call.answer.reject(new Unreadable(message.reason));
  advance();
}

/** Ends a thread. The file that it was in fails, and another thread reads the others. */
function replace(ended: Worker, error: Error): void {
  if (thread !== ended) return;
  thread = undefined;
  void ended.terminate();
  calls.shift()?.answer.reject(error);
  if (calls.length > 0) advance();
  else clearTimeout(timer);
}

function ask(request: ToReader): Promise<Answer> {
  const call: Call = { request, answer: Promise.withResolvers() };
  calls.push(call);
  if (calls.length === 1) advance();
  return call.answer.promise;
}

/**
 * Reads a file that lists dependencies.
 * @param path from the top of the repository; its name says what the file is, unless it is an uploaded bill of materials
 * @param parents files that earlier answers wanted
 * @throws Unreadable with the reason; TooCostly when it takes too long or too much memory
 */
export function readFile(
  path: string,
  bytes: Uint8Array,
  { is_document = false, parents = [] }: Partial<Pick<ToReadListing, 'is_document' | 'parents'>> = {},
): Promise<ReadFile> {
  if (bytes.length > largestListing_bytes)
    return Promise.reject(new Unreadable(`It is larger than ${largestListing_bytes / 1024 / 1024} MiB.`));
  return ask({ id: ++lastId, path, bytes, is_document, parents }) as Promise<ReadFile>;
}

/**
 * Reads files that tell the licenses of packages.
 * @returns what each says, as a JSON array of `DeclaredLicenses`
 * @throws TooCostly when they take too long or too much memory together
 */
export const readLicenses = (files: readonly FileBytes[]): Promise<string[]> => ask({ id: ++lastId, files }) as Promise<string[]>;
