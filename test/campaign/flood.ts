/** A thread that sends more requests than a server can answer, and tells how long each answer took. */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import autocannon, { type Request } from 'autocannon';
import type { Asked } from './load_mix.ts';

export interface Flood {
  /** The address of the API. */
  url: string;
  token: string;
  /** Divided among the connections, each of which sends its own in turn. */
  requests: Asked[];
  connections: number;
  /** Requests a second, of all connections together. */
  rate: number;
  /** For how long answers are not counted: a server that has just started compiles its code and plans its statements. */
  warmUp_seconds: number;
  seconds: number;
}

export interface Flooded {
  answers: { status: number; waited_ms: number }[];
  /** Requests without an answer. */
  lost: number;
  /** Commits that were refused because another changed the same file at the same time. */
  conflicts: number;
}

const conflictText = 'Please refresh and try again.';

const { url, token, requests, connections, rate, warmUp_seconds, seconds } = workerData as Flood;
const { pathname: root } = new URL(url);
const answers: Flooded['answers'] = [];
let conflicts = 0;
const onResponse = (status: number, body: string) => {
  if (status === 400 && body.includes(conflictText)) conflicts++;
};

function prepared({ method, path, parameters }: Asked): Request {
  const headers = { 'private-token': token };
  if (method === 'get')
    return { method: 'GET', path: `${root}${path}${parameters ? `?${new URLSearchParams(parameters)}` : ''}`, headers };
  const writing: Request = {
    method: method === 'put' ? 'PUT' : 'POST',
    path: `${root}${path}`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  };
  if (!path.includes('/repository/')) return writing;
  // A commit that changes nothing would be refused.
  const setupRequest = (request: Request) => ({
    ...request,
    body: JSON.stringify({ ...parameters, content: randomUUID() }),
  });
  return { ...writing, setupRequest, onResponse };
}

let clients = 0;
const counted_ms = performance.now() + warmUp_seconds * 1000;
const { errors } = await autocannon({
  url,
  connections,
  overallRate: rate,
  duration: warmUp_seconds + seconds,
  setupClient: (client) => {
    // Each has requests of its own: preparing all of them for every client would keep this thread from hearing answers for seconds.
    client.setRequests(requests.filter((_, index) => index % connections === clients).map(prepared));
    clients++;
    client.on('response', (status, _bytes, waited_ms) => {
      if (performance.now() >= counted_ms) answers.push({ status, waited_ms });
    });
  },
});
parentPort!.postMessage({ answers, lost: errors, conflicts } satisfies Flooded);
