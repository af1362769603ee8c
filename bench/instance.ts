/** A fresh instance of the product, and processes beside it, for one run of the benchmark. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clientOf } from '../test/support/client.ts';
import { environmentFor, type Instance as Server, startInstance as startServer } from '../test/support/instance.ts';
import { cpuOfTree } from '../test/support/process_tree.ts';
import type { Measurable } from './measure.ts';

export const token = 'bench-token-for-one-run-only';

export interface Instance extends Pick<Server, 'ready_ms' | 'memory_bytes' | 'allocated_bytes' | 'cpu_ms' | 'stop'> {
  url: string;
  data: string;
  api: ReturnType<typeof clientOf>;
  longestBlock_ms(): Promise<number>;
}

/** The gauge asks a timer every 10 ms, and shows that much for a loop that is never late. */
const timer_ms = 10;

async function longestBlock_ms(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/-/metrics`)).text();
  const lag_seconds = Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]);
  return Math.max(0, lag_seconds * 1000 - timer_ms);
}

/** Starts the server on `data`, with further settings. */
export async function startInstance(data: string, settings: Record<string, string> = {}): Promise<Instance> {
  const environment = { ...(await environmentFor(data, token)), ...settings };
  environment.COPPICE_LOG_LEVEL = 'info'; // as operators run it
  const { ready_ms, memory_bytes, allocated_bytes, cpu_ms, stop } = await startServer(environment);
  const url = environment.COPPICE_URL;
  const api = clientOf(`${url}/api/v4`, token);
  return {
    url,
    data,
    api,
    ready_ms,
    memory_bytes,
    allocated_bytes,
    cpu_ms,
    stop,
    longestBlock_ms: () => longestBlock_ms(url),
  };
}

/** A folder for one run, and how to be rid of it. */
export async function workFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-bench-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Runs `bench/limits/<name>.ts` while `work` lasts; it prints the address that it listens at. */
export async function withLimit<T>(name: string, args: string[], work: (limit: Measurable) => Promise<T>): Promise<T> {
  const script = path.join(import.meta.dirname, 'limits', `${name}.ts`);
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return await work({ url: line.toString().trim(), cpu_ms: () => cpuOfTree(child.pid!) });
  } finally {
    child.kill();
  }
}
