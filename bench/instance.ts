/** A fresh instance of the product, and processes beside it, for one run of the benchmark. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clientOf } from '../test/support/client.ts';

const main = path.resolve(import.meta.dirname, '../src/main.ts');
export const token = 'bench-token-for-one-run-only';

export interface Instance {
  url: string;
  data: string;
  api: ReturnType<typeof clientOf>;
  /** From the start of the process to readiness. */
  ready_ms: number;
  /** Resident memory of the serving process. */
  memory_bytes(): Promise<number>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function readiness(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/-/readiness`).catch(() => undefined);
    if (answer?.ok) return;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

/** Starts the server on `data`. */
export async function startInstance(data: string): Promise<Instance> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const environment = {
    COPPICE_DATA: data,
    COPPICE_PORT: String(port),
    COPPICE_URL: url,
    COPPICE_ROOT_TOKEN: token,
    COPPICE_LOG_LEVEL: 'warn',
  };
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await readiness(url, child);
  return {
    url,
    data,
    api: clientOf(`${url}/api/v4`, token),
    ready_ms: performance.now() - began,
    memory_bytes: () => residentBytes(child.pid!),
    stop: async () => {
      child.kill('SIGINT');
      await once(child, 'exit');
    },
  };
}

/** A folder for one run, and how to be rid of it. */
export async function workFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-bench-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Runs `bench/limits/<name>.ts` while `work` lasts; it prints the address that it listens at. */
export async function withLimit<T>(name: string, args: string[], work: (url: string) => Promise<T>): Promise<T> {
  const script = path.join(import.meta.dirname, 'limits', `${name}.ts`);
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return await work(line.toString().trim());
  } finally {
    child.kill();
  }
}
