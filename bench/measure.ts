/** Measuring: load on addresses, or the time of something that is done once after the other. */
import autocannon from 'autocannon';

export interface Measured {
  /** Requests a second, where load was put on. */
  rate?: number;
  /** Processor time of all processes for one request. */
  cpu_ms?: number;
  p50_ms: number;
  p90_ms: number;
  p99_ms: number;
  /** The longest time in which the event loop of the server came to nothing else. */
  block_ms?: number;
}

const duration_s = Number(process.env.BENCH_SECONDS ?? 8);
const warmUp_s = Number(process.env.BENCH_WARM_UP_SECONDS ?? 5);
const connections = 16;

/** What is measured: where it answers, and how much processor time it has taken. */
export interface Measurable {
  url: string;
  cpu_ms(): Promise<number>;
  /** The longest time since it was asked last in which its event loop came to nothing else. */
  longestBlock_ms?(): Promise<number>;
}

/** How addresses are asked, where that is not a GET on 16 connections. */
export interface Asking {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** Each request has an id of its own in place of `[<id>]`. */
  body?: string;
  connections?: number;
  /** What is answered, where that is no success. */
  status?: `${number}`;
}

/**
 * Puts load on addresses for some seconds, after as many of warming up.
 * @param paths asked in turn by each connection
 */
export async function load(measurable: Measurable, paths: readonly string[], asking: Asking = {}): Promise<Measured> {
  const { url, cpu_ms } = measurable;
  const { body, status, ...common } = asking;
  const requests = paths.map((path) => ({ path, ...(body === undefined ? {} : { body }) }));
  const options = { url, connections, idReplacement: body?.includes('[<id>]') ?? false, ...common, requests };
  await autocannon({ ...options, duration: warmUp_s });
  const before_ms = await cpu_ms();
  await measurable.longestBlock_ms?.();
  const result = await autocannon({ ...options, duration: duration_s });
  const answered = status === undefined ? result['2xx'] : (result.statusCodeStats?.[status]?.count ?? 0);
  const refusals = result.requests.total - answered;
  if (refusals > 0 || result.errors > 0) throw new Error(`${paths[0]}: ${refusals} refusals, ${result.errors} errors`);
  return {
    rate: result.requests.average,
    cpu_ms: ((await cpu_ms()) - before_ms) / result.requests.total,
    p50_ms: result.latency.p50,
    p90_ms: result.latency.p90,
    p99_ms: result.latency.p99,
    block_ms: await measurable.longestBlock_ms?.(),
  };
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;

/** What 95 of 100 stay below. */
export const p95_ms = (taken_ms: readonly number[]): number =>
  at(
    taken_ms.toSorted((a, b) => a - b),
    0.95,
  );

/** How long something takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** @param taken_ms how long each turn took */
export function measuredFrom(taken_ms: readonly number[]): Measured {
  const sorted = taken_ms.toSorted((a, b) => a - b);
  return { p50_ms: at(sorted, 0.5), p90_ms: at(sorted, 0.9), p99_ms: at(sorted, 0.99) };
}

/** Does something again and again, and two things in turn, so that both meet the same machine. */
export async function inTurn(times: number, ...works: ((turn: number) => Promise<unknown>)[]): Promise<Measured[]> {
  const taken_ms: number[][] = works.map(() => []);
  for (let turn = 0; turn < times; turn++) {
    for (const [index, work] of works.entries()) {
      taken_ms[index]!.push(await timeOf(() => work(turn)));
    }
  }
  return taken_ms.map(measuredFrom);
}
