/** A thread that sends more requests than a server can answer, and tells how long each answer took. */
import { parentPort, workerData } from 'node:worker_threads';
import autocannon from 'autocannon';
import type { Asked } from './load_mix.ts';

export interface Flood {
  /** The address of the API. */
  url: string;
  token: string;
  /** Sent in turn. */
  requests: Asked[];
  connections: number;
  /** Requests a second, of all connections together. */
  rate: number;
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

const { url, token, requests, connections, rate, seconds } = workerData as Flood;
const { pathname: root } = new URL(url);
const answers: Flooded['answers'] = [];
let conflicts = 0;
const onResponse = (status: number, body: string) => {
  if (status === 400 && body.includes(conflictText)) conflicts++;
};
const { errors } = await autocannon({
  url,
  connections,
  overallRate: rate,
  duration: seconds,
  headers: { 'private-token': token },
  requests: requests.map(({ method, path, parameters }) => ({
    method: method.toUpperCase() as 'GET',
    ...(method !== 'get' && path.includes('/repository/') ? { onResponse } : {}),
    path: `${root}${path}${method === 'get' && parameters ? `?${new URLSearchParams(parameters)}` : ''}`,
    ...(method === 'get'
      ? {}
      : { body: JSON.stringify(parameters), headers: { 'private-token': token, 'content-type': 'application/json' } }),
  })),
  setupClient: (client) => {
    client.on('response', (status, _bytes, waited_ms) => answers.push({ status, waited_ms }));
  },
});
parentPort!.postMessage({ answers, lost: errors, conflicts } satisfies Flooded);
