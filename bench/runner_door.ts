/** What runners ask and say, and how long that takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from './instance.ts';
import { timeOf } from './measure.ts';

const features = { cancel_gracefully: true, refspecs: true, return_exit_code: true, two_phase_job_commit: true };
const info = { name: 'bench', version: '17.0.0', platform: 'linux', architecture: 'amd64', features };
/** A piece of a log, of 4 KiB. */
const piece = 'x'.repeat(4_095).concat('\n');

export interface Held {
  id: number;
  token: string;
}

export const percentile = (taken_ms: readonly number[], part: number): number =>
  taken_ms.toSorted((one, other) => one - other)[Math.ceil(taken_ms.length * part) - 1]!;

/** Does pieces of work, some at once, and says how long each took. */
export async function allTimes(
  count: number,
  together: number,
  work: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const taken_ms: number[] = [];
  let next = 0;
  const go = async () => {
    while (next < count) {
      const index = next++;
      taken_ms.push(await timeOf(() => work(index)));
    }
  };
  await Promise.all(Array.from({ length: together }, go));
  return taken_ms;
}

/** Begins pieces of work at an even pace, however long each takes. */
export async function pacedTimes(
  count: number,
  every_ms: number,
  work: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const began = performance.now();
  const begun: Promise<number>[] = [];
  for (let index = 0; index < count; index++) {
    const early_ms = began + index * every_ms - performance.now();
    if (early_ms > 1) await sleep(early_ms);
    begun.push(timeOf(() => work(index)));
  }
  return Promise.all(begun);
}

/** @param token of a runner */
export function doorOf({ url }: Instance, token: string) {
  const send = (method: string, address: string, body: string | object, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/v4${address}`, {
      method,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json', ...headers },
    });
  // Each request is of another machine: the server limits how often one asks.
  let machines = 0;
  const request = async (last_update?: string): Promise<Held | undefined> => {
    const asking = { token, info, system_id: `s_${++machines}`, ...(last_update && { last_update }) };
    const reply = await send('POST', '/jobs/request', asking);
    if (reply.status !== 201 && reply.status !== 204) throw new Error(`${reply.status} ${await reply.text()}`);
    return reply.status === 201 ? ((await reply.json()) as Held) : undefined;
  };
  /** What a request waits with. */
  const cursor = async (): Promise<string> => {
    const reply = await send('POST', '/jobs/request', { token, info, system_id: `s_${++machines}` });
    return reply.headers.get('x-gitlab-last-update')!;
  };
  const append = async ({ id, token: own }: Held, count: number) => {
    const start = count * piece.length;
    const range = `${start}-${start + piece.length - 1}`;
    const reply = await send('PATCH', `/jobs/${id}/trace`, piece, { 'job-token': own, 'content-range': range });
    if (reply.status !== 202) throw new Error(`${reply.status} ${await reply.text()}`);
  };
  const end = async ({ id, token: own }: Held) => {
    const reply = await send('PUT', `/jobs/${id}`, { token: own, state: 'success' });
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
  };
  return { request, cursor, append, end };
}
