/** The real executable, started, killed and started again on the same data. */
import assert from 'node:assert/strict';
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ownAddress } from './address.ts';
import { compileCache } from './compile_cache.ts';
import { cpuOfTree, memoryOfTree } from './process_tree.ts';
import { program } from './program.ts';

const startTimeout_ms = 60_000;
/** Of what the server wrote last. */
const shownLength = 8000;

/** The COPPICE_* variables of a server that listens at its external address. */
export type ServerEnvironment = Record<string, string> & { COPPICE_URL: string; COPPICE_DATA: string };

/** @param token of the first administrator */
export async function environmentFor(data: string, token: string): Promise<ServerEnvironment> {
  const { COPPICE_URL, COPPICE_PORT } = await ownAddress();
  return {
    COPPICE_DATA: data,
    COPPICE_URL: COPPICE_URL!,
    COPPICE_PORT: COPPICE_PORT!,
    COPPICE_SSH_PORT: '0',
    COPPICE_ROOT_TOKEN: token,
    COPPICE_LOG_LEVEL: 'warn',
  };
}

export interface Instance {
  /** From the start of the process to its first answer. */
  ready_ms: number;
  /** Memory of the server, its database and git together. */
  memory_bytes(): Promise<number>;
  /** Of it, what they have allocated: without files, and without the buffers of the database, which fill up to a fixed size. */
  allocated_bytes(): Promise<number>;
  /** Processor time of all of them since the start. */
  cpu_ms(): Promise<number>;
  killServer(): Promise<void>;
  killDatabase(): Promise<void>;
  /** Resolves when the server answers again, as it must by itself after its database was killed. */
  ready(): Promise<void>;
  /** The last lines that the server logged. */
  said(): string;
  /** Ctrl-C. */
  stop(): Promise<void>;
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

async function waitUntilReady(url: string, child: ChildProcess, said: () => string): Promise<void> {
  for (const giveUpAt = Date.now() + startTimeout_ms; Date.now() < giveUpAt; ) {
    assert.ok(isRunning(child), `the server has ended: ${said()}`);
    const answer = await fetch(`${url}/-/readiness`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail('the server does not become ready');
}

/** SIGKILL for the embedded PostgreSQL of a data folder. */
export async function killDatabase(data: string): Promise<void> {
  const pid = Number((await readFile(path.join(data, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);
  assert.ok(pid > 1, 'the file names a process');
  process.kill(pid, 'SIGKILL');
}

/** SIGKILL for a server and what it started, except for the database. */
export async function killServer(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
}

/** A server that may not be ready yet, in the environment that `npm start` gives it. */
export const spawnServer = (environment: ServerEnvironment): ChildProcessByStdio<null, Readable, Readable> =>
  spawn(process.execPath, [program, 'serve'], {
    env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: '1', ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, which one signal reaches
  });

/** Starts the server and waits until it answers. */
export async function startInstance(environment: ServerEnvironment): Promise<Instance> {
  const began = performance.now();
  const child = spawnServer(environment);
  const ended = once(child, 'exit');
  let lines = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      lines = `${lines}${part}`.slice(-shownLength);
    });
  const said = () => lines;
  await waitUntilReady(environment.COPPICE_URL, child, said);
  return {
    ready_ms: performance.now() - began,
    memory_bytes: () => memoryOfTree(child.pid!),
    allocated_bytes: () => memoryOfTree(child.pid!, 'Pss_Anon'),
    cpu_ms: () => cpuOfTree(child.pid!),
    killServer: () => killServer(child),
    killDatabase: () => killDatabase(environment.COPPICE_DATA),
    said,
    ready: () => waitUntilReady(environment.COPPICE_URL, child, said),
    async stop() {
      if (isRunning(child)) child.kill('SIGINT');
      await ended;
    },
  };
}

/** Runs a command of the executable, e.g. `['check']`, and gives its exit code and what it printed. */
export async function coppice(
  words: readonly string[],
  environment: Record<string, string>,
): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env.PATH, ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: code as number, said: `${out}${error}` };
}
