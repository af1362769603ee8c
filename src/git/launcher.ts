/** Starts git through a small process (docs/decisions/0029-a-small-process-starts-git.md): the server itself never forks, which would block its event loop. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, rmdir, unlink } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { programFile } from '../foundation/installation.ts';
import { letWaitForProcessor } from '../foundation/scheduling.ts';

export interface LaunchRequest {
  args: readonly string[];
  /** The complete environment. */
  env: Readonly<Record<string, string>>;
  /** The streams besides standard output and error. `channel` is descriptor 3, for hooks and filters to talk to the server. */
  streams?: readonly ('stdin' | 'channel')[];
  /** Whether git leads a process group, so that a signal also reaches what git started itself. */
  group?: boolean;
}

type Stream = 'stdin' | 'stdout' | 'channel';
export interface LaunchMessage {
  id: number;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  streams: readonly Stream[];
  group: boolean;
}
export type LauncherMessage = LaunchMessage | { id: number; signal: NodeJS.Signals };
export type LauncherReply =
  | { id: number; pid: number }
  | { id: number; error: string; is_unreachable: boolean }
  | { id: number; code: number | null; stderr: string };

export interface Ending {
  /** Null after a signal. */
  code: number | null;
  stderr: string;
}

/** `<stream> <id>`, padded in front and followed by a line feed. */
const header_bytes = 20;

/** A running git. */
export interface GitProcess {
  stdin: Socket | undefined;
  stdout: Socket;
  channel: Socket | undefined;
  /** Resolves once git has ended and its output has been read; never rejects. */
  ended: Promise<Ending>;
  kill(signal: NodeJS.Signals): void;
  /** Lets this process exit while git runs, or not; as with Node's own handles it may not at first. */
  ref(): void;
  unref(): void;
}

interface Launched {
  streams: Map<Stream, Socket>;
  wanted: readonly Stream[];
  pid: number | undefined;
  ending: Ending | undefined;
  isHeld: boolean;
  started: PromiseWithResolvers<void>;
  /** Resolves when the output has been read to its end; without output, at once. */
  closed: PromiseWithResolvers<void>;
  exited: PromiseWithResolvers<Ending>;
}

/** The launcher can no longer connect to the server; a new one can. */
class Unreachable extends Error {}

/** The reason why running git processes are lost. It is not their fault, and they can be started again. */
export const lostText = 'the process that starts git has ended';
export const lostCode = 'GIT_LOST';

class Launcher {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #listener: Server;
  readonly #address: string;
  readonly #launched = new Map<number, Launched>();
  readonly #onEnd: () => void;
  #lastId = 0;
  #held = 0;
  #isRetired = false;

  /** `onEnd` is called when it accepts no more requests. */
  constructor(listener: Server, address: string, onEnd: () => void) {
    this.#listener = listener;
    this.#address = address;
    this.#onEnd = onEnd;
    const cache = getCompileCacheDir();
    this.#child = spawn(process.execPath, [programFile('git/launcher_process'), address], {
      env: { PATH: process.env.PATH, ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true, // Ctrl-C reaches the server, which lets git finish.
    });
    letWaitForProcessor(this.#child.pid);
    this.#child.stdin.on('error', () => {}); // Its end is reported below.
    const end = () => {
      onEnd();
      this.#abandon();
    };
    this.#child.once('error', end).once('exit', end);
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#receive(JSON.parse(line)));
    listener.on('connection', (socket) => this.#accept(socket));
    this.#hold(0);
  }

  async launch({ args, env, streams = [], group = false }: LaunchRequest): Promise<GitProcess> {
    const id = ++this.#lastId;
    const launched: Launched = {
      streams: new Map(),
      wanted: ['stdout', ...streams],
      pid: undefined,
      ending: undefined,
      isHeld: true,
      started: Promise.withResolvers(),
      closed: Promise.withResolvers(),
      exited: Promise.withResolvers(),
    };
    this.#launched.set(id, launched);
    this.#hold(1);
    this.#send({ id, args, env, streams: launched.wanted, group });
    await launched.started.promise;
    const stdout = launched.streams.get('stdout')!;
    const held = (isHeld: boolean) => {
      if (launched.isHeld !== isHeld && this.#launched.has(id)) this.#hold(isHeld ? 1 : -1);
      launched.isHeld = isHeld;
      for (const socket of launched.streams.values()) socket[isHeld ? 'ref' : 'unref']();
    };
    return {
      stdin: launched.streams.get('stdin'),
      stdout,
      channel: launched.streams.get('channel'),
      ended: Promise.all([launched.exited.promise, launched.closed.promise]).then(([ending]) => ending),
      kill: (signal) => this.#send({ id, signal }),
      ref: () => held(true),
      unref: () => held(false),
    };
  }

  #send(message: LauncherMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Keeps this process alive while a git that is waited for runs. */
  #hold(more: 1 | 0 | -1): void {
    this.#held += more;
    const change = this.#held > 0 ? 'ref' : 'unref';
    for (const handle of [this.#child, this.#listener, this.#child.stdin as Socket, this.#child.stdout as Socket])
      handle[change]();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {}); // The peer has died, or does not read to the end; git's exit code tells which.
    const leave = () => void socket.destroy();
    const read = () => {
      const header: Buffer | null = socket.read(header_bytes);
      if (header === null) return;
      socket.off('readable', read).off('end', leave);
      const [stream, id] = header.toString().trim().split(' ') as [Stream, string];
      const launched = this.#launched.get(Number(id));
      if (!launched) return void socket.destroy();
      if (stream === 'stdout') socket.once('close', launched.closed.resolve).end();
      launched.streams.set(stream, socket);
      this.#settle(Number(id), launched);
    };
    // Another server may have probed whether this one is alive.
    socket.on('readable', read).once('end', leave);
  }

  #receive(message: LauncherReply): void {
    const launched = this.#launched.get(message.id);
    if (!launched) return;
    if ('error' in message) {
      const reason = `git could not be started: ${message.error}`;
      if (message.is_unreachable) this.#retire();
      return this.#fail(message.id, launched, message.is_unreachable ? new Unreachable(reason) : new Error(reason));
    }
    if ('pid' in message) launched.pid = message.pid;
    else launched.ending = { code: message.code, stderr: message.stderr };
    this.#settle(message.id, launched);
  }

  /** Streams and exit messages of a process arrive on different connections: a short process may have ended before its output arrives. */
  #settle(id: number, { streams, wanted, pid, ending, isHeld, started, exited }: Launched): void {
    if (pid === undefined || streams.size < wanted.length) return;
    started.resolve();
    if (!ending) return;
    this.#forget(id, isHeld);
    exited.resolve(ending);
    streams.get('stdin')?.destroy();
    streams.get('channel')?.end(); // Its reader still has to see its end.
  }

  #fail(id: number, { streams, isHeld, started, exited }: Launched, reason: Error): void {
    this.#forget(id, isHeld);
    started.reject(reason);
    exited.resolve({ code: null, stderr: reason.message });
    for (const socket of streams.values()) socket.destroy();
  }

  #forget(id: number, isHeld: boolean): void {
    this.#launched.delete(id);
    if (isHeld) this.#hold(-1);
    if (this.#isRetired && this.#launched.size === 0) this.#child.stdin.end();
  }

  /** Accepts no more requests, and ends with its children. */
  #retire(): void {
    this.#isRetired = true;
    this.#onEnd();
  }

  /** Nothing reports the end of these processes any more, so they are stopped. */
  #abandon(): void {
    for (const [id, launched] of this.#launched) {
      try {
        if (launched.pid !== undefined) process.kill(launched.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
      this.#fail(id, launched, Object.assign(new Error(lostText), { code: lostCode }));
    }
    this.#listener.close();
    void removeSocket(this.#address);
  }
}

const folderName = 'coppice-git-';
const socketName = 'launcher';

/** Whether a process listens at an address. */
async function isServed(address: string): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}

/** Removes a socket with its folder, unless another server is doing the same, or the folder contains other files or belongs to another account. */
async function removeSocket(address: string): Promise<void> {
  await unlink(address).catch(() => {});
  await rmdir(dirname(address)).catch(() => {});
}

/** Removes the remains of a server that was killed together with its launcher, which otherwise removes them. */
async function removeAbandoned(): Promise<void> {
  for await (const name of glob(`${folderName}*/${socketName}`, { cwd: tmpdir() })) {
    const address = join(tmpdir(), name);
    if (await isServed(address)) continue;
    await removeSocket(address);
  }
}

let current: Promise<Launcher> | undefined;

async function open(onEnd: () => void): Promise<Launcher> {
  await removeAbandoned();
  const address = join(await mkdtemp(join(tmpdir(), folderName)), socketName);
  const listener = createServer({ allowHalfOpen: true }).listen(address);
  await once(listener, 'listening');
  return new Launcher(listener, address, onEnd);
}

function running(): Promise<Launcher> {
  if (current) return current;
  const opened = open(() => {
    if (current === opened) current = undefined;
  });
  current = opened;
  return opened;
}

/**
 * Starts git.
 * @throws Error when it cannot be started, with the code `GIT_LOST` when the process that starts it has ended
 */
export async function launch(request: LaunchRequest): Promise<GitProcess> {
  try {
    return await (await running()).launch(request);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return (await running()).launch(request);
  }
}
