/** The real executable, started, killed and started again on the same data. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { compileCache } from '../support/compile_cache.ts';

const main = path.resolve(import.meta.dirname, '../../src/main.ts');
const startTimeout_ms = 60_000;
/** Of what the server wrote last. */
const shownLength = 8000;

export interface Instance {
  /** SIGKILL for the server and what it started, except for the database. */
  killServer(): Promise<void>;
  /** SIGKILL for the embedded PostgreSQL. */
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

/**
 * Starts the server and waits until it answers.
 * @param environment its COPPICE_* variables, with COPPICE_URL and COPPICE_DATA
 */
export async function startInstance(
  environment: Record<string, string> & { COPPICE_URL: string; COPPICE_DATA: string },
): Promise<Instance> {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { PATH: process.env.PATH, ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, which one signal reaches
  });
  const ended = once(child, 'exit');
  let lines = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      lines = `${lines}${part}`.slice(-shownLength);
    });
  const said = () => lines;
  await waitUntilReady(environment.COPPICE_URL, child, said);
  return {
    async killServer() {
      if (isRunning(child)) process.kill(-child.pid!, 'SIGKILL');
      await ended;
    },
    async killDatabase() {
      const file = path.join(environment.COPPICE_DATA, 'postgres/postmaster.pid');
      const pid = Number((await readFile(file, 'utf8')).split('\n')[0]);
      assert.ok(pid > 1, 'the file names a process');
      process.kill(pid, 'SIGKILL');
    },
    said,
    ready: () => waitUntilReady(environment.COPPICE_URL, child, said),
    async stop() {
      if (isRunning(child)) child.kill('SIGINT');
      await ended;
    },
  };
}

/** Runs a command of the executable, e.g. `check`, and gives its exit code and what it printed. */
export async function coppice(command: string, environment: Record<string, string>): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [main, command], {
    env: { PATH: process.env.PATH, ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: code as number, said: `${out}${error}` };
}
