/** Starting git: its arguments and environment, and limits on concurrency, time and output. */
import { statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { pipeline, Readable } from 'node:stream';
import { Places } from '../foundation/places.ts';
import { Turns } from '../foundation/turns.ts';
import { type Ending, type GitProcess, type LaunchRequest, launch, lostCode, lostText } from './launcher.ts';
import type { Environment, Option, Repository } from './types.ts';

/** git failed, was stopped, or exceeded its output limit. */
export class GitError extends Error {
  override name = 'GitError';
  readonly command: string;
  /** Null when git was stopped by a signal. */
  readonly exit_code: number | null;
  readonly stderr: string;
  /** The output of a short command so far. */
  readonly output: Buffer | undefined;
  /** The code of an error that callers distinguish: the code of a file system error that git met, or the code for a launcher that has ended. */
  readonly code: 'ENOSPC' | 'EDQUOT' | typeof lostCode | undefined;

  /** @param folder the folder that git wrote to, if any */
  constructor(command: string, exit_code: number | null, stderr: string, output?: Buffer, folder?: string) {
    super(
      `git ${command} ${exit_code === null ? 'was stopped' : `ended with ${exit_code}`}: ${stderr.trim() || 'no message'}`,
    );
    this.command = command;
    this.exit_code = exit_code;
    this.stderr = stderr;
    this.output = output;
    this.code = codeOf(stderr, folder);
  }
}

/**
 * git has no codes for these errors, and reports them in English in the environment below. For a file that it has created and cannot write it gives no reason, so
 * the free space of the disk is checked.
 */
function codeOf(stderr: string, folder: string | undefined): GitError['code'] {
  if (stderr === lostText) return lostCode;
  if (/No space left on device/.test(stderr)) return 'ENOSPC';
  if (/Disk quota exceeded/.test(stderr)) return 'EDQUOT';
  return folder !== undefined &&
    /\b(?:could ?n[o']t|unable to|cannot|failed to) (?:write|close)\b/.test(stderr) &&
    isDiskFull(folder)
    ? 'ENOSPC'
    : undefined;
}

function isDiskFull(folder: string): boolean {
  try {
    const { bavail, ffree, files } = statfsSync(folder);
    return bavail === 0 || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}

/** git exceeded its output limit. */
export class OutputTooLong extends GitError {
  override name = 'OutputTooLong';
}

export interface RunOptions {
  input?: Buffer | string;
  /** Added to the fixed environment, for instance the quarantine of a push. */
  env?: Environment;
  /** Stops git when it fires. */
  signal?: AbortSignal;
  /** The most bytes git may write; 64 MiB unless said otherwise. */
  limit?: number;
  timeout_ms?: number;
}

const maximumOutput = 64 * 1024 * 1024;
const maximumRun_ms = 120_000;

/** More concurrent short commands than this are not faster; they would only evict each other from the processor's caches. */
const turns = new Turns(Math.max(4, availableParallelism() * 2), 1_000);

/** These refuse `--end-of-options` (git 2.39), so their operands must not start with a dash. */
const without_end_of_options = new Set(['archive', 'blame', 'commit-graph write', 'grep']);

/** The complete environment of every git process, so that no setting of the operator or the server affects git. */
const environment: Environment = {
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  HOME: '/nonexistent',
  XDG_CONFIG_HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  // The only storage of refs that is read without git.
  GIT_DEFAULT_REF_FORMAT: 'files',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  // Disables aliases and pagers of an operator, and hooks of an imported repository.
  GIT_PAGER: 'cat',
  GIT_CONFIG_COUNT: '2',
  // The server may run as another user than the owner of the storage.
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
};

/** The environment variables that make git run the hooks in `folder`, to be added to the fixed ones. */
export const hooksFrom = (folder: string): Environment => ({ GIT_CONFIG_VALUE_1: folder });

/** The environment variables that give git more settings than the fixed ones, e.g. `{ 'receive.unpackLimit': '1' }`. A setting can have several values. */
export function settingsOf(settings: Readonly<Record<string, string | readonly string[]>>): Environment {
  const first = Number(environment.GIT_CONFIG_COUNT);
  const pairs = Object.entries(settings).flatMap(([key, values]) =>
    [values].flat().map((value) => [key, value] as const),
  );
  const variables = pairs.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(first + pairs.length)], ...variables]);
}

/**
 * The arguments after `git` for a command (with its subcommand, if it has them) on a repository.
 * Throws when an operand could be read as an option by a command that has no way to end its options.
 */
export function argumentsOf(
  repository: Repository | undefined,
  command: string,
  options: readonly Option[],
  operands: readonly string[] = [],
  paths: readonly string[] = [],
): string[] {
  const where = repository ? [`--git-dir=${repository.path}`] : [];
  const marker = operands.length > 0 && !without_end_of_options.has(command) ? ['--end-of-options'] : [];
  const dashed = marker.length === 0 && operands.find((operand) => operand.startsWith('-'));
  if (dashed) throw new GitError(command, 129, `an operand must not start with a dash: ${dashed}`);
  return [
    ...where,
    ...command.split(' '),
    ...options,
    ...marker,
    ...operands,
    ...(paths.length > 0 ? ['--', ...paths] : []),
  ];
}

/**
 * Starts git. Every function that needs a git process uses this one.
 * @param how `group`: whether `stop` also reaches what git starts itself; `streams`: besides standard output and error
 * @throws Error when it cannot be started
 */
export async function start(
  args: readonly string[],
  { env, ...how }: { env?: Environment | undefined } & Pick<LaunchRequest, 'streams' | 'group'>,
): Promise<GitProcess> {
  running.add(args);
  started++;
  try {
    const started = await launch({ args, env: { ...environment, ...env }, ...how });
    void started.ended.then(() => running.delete(args));
    return started;
  } catch (error) {
    running.delete(args);
    throw error;
  }
}

/** The arguments of each process. */
const running = new Set<readonly string[]>();
let started = 0;

/** Whether a process of git works with the repository at a path. */
export const isInUse = (path: string): boolean =>
  [...running].some((args) => args.some((argument) => argument === path || argument === `--git-dir=${path}`));

/** The number of running git processes, of all that were started, and of short commands that wait. */
export const gitLoad = (): { running: number; started: number; waiting: number } => ({
  running: running.size,
  started,
  waiting: turns.waiting,
});

/** Stops git and its children, first with SIGTERM, so that it removes its locks and half-written files. */
function stop(child: GitProcess): void {
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), 5_000).unref();
}

/**
 * Runs a short git command and returns its output.
 * `options` may hold user values only behind an equals sign; `operands` follow `--end-of-options`; `paths` follow `--` and are literal.
 * Throws `GitError` when git fails or takes too long, `OutputTooLong` when it writes more than `limit` bytes; the signal's reason when it fires.
 */
export function git(
  repository: Repository | undefined,
  command: string,
  options: readonly Option[],
  operands: readonly string[] = [],
  paths: readonly string[] = [],
  run: RunOptions = {},
): Promise<Buffer> {
  return turns.run(async () => {
    run.signal?.throwIfAborted();
    const args = argumentsOf(repository, command, options, operands, paths);
    const child = await start(args, { env: run.env, streams: run.input === undefined ? [] : ['stdin'] });
    return output(child, command, repository, run);
  });
}

async function output(
  child: GitProcess,
  command: string,
  repository: Repository | undefined,
  run: RunOptions,
): Promise<Buffer> {
  const { limit = maximumOutput, timeout_ms = maximumRun_ms, signal, input } = run;
  const chunks: Buffer[] = [];
  let size = 0;
  let stopped: GitError | undefined;
  const halt = (reason: GitError) => {
    stopped ??= reason;
    child.kill('SIGKILL');
  };
  const abort = () => halt(new GitError(command, null, 'the request was given up'));
  const timer = setTimeout(() => halt(new GitError(command, null, `it took longer than ${timeout_ms} ms`)), timeout_ms);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) halt(new OutputTooLong(command, null, `it wrote more than ${limit} bytes`));
    else chunks.push(chunk);
  });
  if (input !== undefined) child.stdin?.end(input);
  try {
    const { code, stderr } = await child.ended;
    signal?.throwIfAborted();
    if (stopped) throw stopped;
    const written = Buffer.concat(chunks, size);
    if (code !== 0) throw new GitError(command, code, stderr, written, repository?.path);
    return written;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

export interface StreamRules {
  /** Receives how git has ended and whether there was output, and returns the error that ends the stream, if any. */
  judge(ending: Ending, wrote: boolean): Error | undefined;
  /** Sent before the output of git. */
  head?: Buffer | undefined;
  /** Whether git must finish after its reader has disconnected; otherwise it is stopped then. */
  mustFinish?(): boolean;
}

/**
 * The output of a running git as a stream. A slow reader pauses git, and destroying the stream stops it. A git that cannot be started ends the stream with an error.
 */
export function outputStream(
  starting: Promise<GitProcess>,
  { judge, head, mustFinish = () => false }: StreamRules,
): Readable {
  let child: GitProcess | undefined;
  let wrote = false;
  let isOver = false;
  const out = new Readable({
    construct(done) {
      starting.then((started) => {
        child = started;
        const { stdout } = started;
        stdout.on('data', (chunk: Buffer) => {
          if (out.destroyed) return;
          if (!wrote && head) out.push(head);
          wrote = true;
          if (!out.push(chunk)) stdout.pause();
        });
        stdout.pause();
        void started.ended.then((ending) => {
          isOver = true;
          const error = judge(ending, wrote);
          if (error) out.destroy(error);
          else out.push(null);
        });
        done();
      }, done);
    },
    read: () => void child?.stdout.resume(),
    destroy(error, done) {
      if (mustFinish()) child?.stdout.resume();
      else if (child && !isOver) {
        stop(child);
        child.stdout.destroy();
      }
      done(error);
    },
  });
  return out;
}

/** Limits for processes whose output clients read at their own pace, such as archives. */
const readingPlaces = new Places({
  limits: { all: 64, per_repository: 48, per_address: 16, per_person: 8 },
  waiting: 512,
  waiting_per_address: 64,
  wait_ms: 30_000,
});

/**
 * Starts git, whose output is sent to the current client. It holds a place until it ends.
 * @throws NoPlace; the reason of the signal; Error when it cannot be started
 */
export async function startForClient(
  repository: Repository,
  args: readonly string[],
  { signal, ...how }: Parameters<typeof start>[1] & { signal?: AbortSignal | undefined },
): Promise<GitProcess> {
  const leave = await readingPlaces.takeForClient({ repository: repository.path }, signal);
  try {
    const started = await start(args, how);
    void started.ended.then(leave);
    return started;
  } catch (error) {
    leave();
    throw error;
  }
}

export interface Streaming extends Pick<RunOptions, 'env' | 'signal'> {
  /** The reader of the output: a client reads at its own pace, and this server as fast as it can. */
  reader: 'client' | 'server';
  /** The standard input of git; its error ends the stream. */
  source?: Readable;
}

/**
 * Runs git and returns its output as a stream of constant memory. A failure of git ends the stream with `GitError`. Destroying the stream, or firing `signal`, stops
 * git. It takes no slot, so it may run as long as the reader wants, unless there is no place for clients (`NoPlace`).
 */
export function gitStream(
  repository: Repository,
  command: string,
  options: readonly Option[],
  operands: readonly string[],
  paths: readonly string[],
  { reader, env, signal, source }: Streaming,
): Readable {
  signal?.throwIfAborted();
  const args = argumentsOf(repository, command, options, operands, paths);
  const judge = ({ code, stderr }: Ending) => (code === 0 ? undefined : new GitError(command, code, stderr));
  const how = { env, streams: source ? (['stdin'] as const) : [], group: true };
  const starting = reader === 'client' ? startForClient(repository, args, { ...how, signal }) : start(args, how);
  const out = outputStream(starting, { judge });
  if (source) {
    source.once('error', (error) => out.destroy(error));
    // git may end before it has read all of its input; its exit code tells whether that is an error. If it cannot start, the output ends with that error.
    starting.then(
      ({ stdin }) => pipeline(source, stdin!, () => {}),
      () => source.destroy(),
    );
  }
  const abort = () => out.destroy(new GitError(command, null, 'the request was given up'));
  signal?.addEventListener('abort', abort, { once: true });
  out.once('close', () => signal?.removeEventListener('abort', abort));
  return out;
}
