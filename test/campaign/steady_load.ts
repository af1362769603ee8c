/**
 * A thread that sends requests at a steady rate, each when its time has come, whether or not those before it were answered. It reads of answers only where they
 * end: a client that takes as long as the server would measure itself.
 */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { KindOfAsked } from './load_mix.ts';
import { type Answered, Connections } from './plain_http.ts';
import { atRate } from './times.ts';

export interface SteadyLoad {
  /** The address of the API. */
  url: string;
  token: string;
  /** Sent in turn. */
  requests: KindOfAsked[];
  /** Requests a second. */
  rate: number;
  seconds: number;
}

export interface SteadyAnswer extends Answered {
  kind: string;
  /** Since the request was due. */
  waited_ms: number;
}

const { url, token, requests, rate, seconds } = workerData as SteadyLoad;
const { host, pathname: root } = new URL(url);
const common = `host: ${host}\r\nprivate-token: ${token}\r\n`;

/** A commit that changes nothing would be refused. */
const changing = ({ path, parameters }: KindOfAsked) =>
  path.includes('/repository/') ? { ...parameters, content: randomUUID() } : parameters;

function textOf(asked: KindOfAsked): string {
  const { method, path, parameters } = asked;
  if (method === 'get')
    return `GET ${root}${path}${parameters ? `?${new URLSearchParams(parameters)}` : ''} HTTP/1.1\r\n${common}\r\n`;
  const body = JSON.stringify(changing(asked));
  const head = `${method.toUpperCase()} ${root}${path} HTTP/1.1\r\n${common}content-type: application/json\r\n`;
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const connections = new Connections(url);
const answers: SteadyAnswer[] = [];
let turn = 0;
await atRate(1000 / rate, performance.now() + seconds * 1000, async (due) => {
  const asked = requests[turn++ % requests.length]!;
  const answered = await connections.send(textOf(asked));
  answers.push({ kind: asked.kind, ...answered, waited_ms: performance.now() - due });
});
connections.close();
parentPort!.postMessage(answers);
