/** The data of a server, the kinds of requests that load is put on it with, and the threads that send them. */
import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import type { Client } from '../support/client.ts';
import { type Random, randomFrom } from '../support/random.ts';
import type { Bystander } from './bystander.ts';
import type { SteadyAnswer, SteadyLoad } from './steady_load.ts';
import { type Sample, Times } from './times.ts';

const projects = 20;
const issuesPerProject = 50;
const filesPerProject = 5;

export interface Seeded {
  api: Client;
  random: Random;
  ids: number[];
}

const labels = ['bug', 'feature', 'question', 'chore'];

export async function seeded(api: Client): Promise<Seeded> {
  const random = randomFrom(1);
  const ids = [];
  for (let number = 0; number < projects; number++) {
    const { status, body } = await api.post('/projects', { name: `Load ${number}`, initialize_with_readme: true });
    assert.equal(status, 201);
    for (let file = 0; file < filesPerProject; file++)
      await api.post(fileUrl(body, `docs/${file}.md`), {
        branch: 'main',
        commit_message: 'Add',
        content: `Line ${file}\n`.repeat(200),
      });
    for (let issue = 0; issue < issuesPerProject; issue++)
      await api.post(`/projects/${body.id}/issues`, {
        title: `Issue ${issue}`,
        labels: random.of(labels),
        description: '- [ ] one\n'.repeat(5),
      });
    ids.push(body.id);
  }
  return { api, random, ids };
}

export interface Asked {
  method: 'get' | 'post' | 'put';
  path: string;
  parameters?: Record<string, string>;
}

/** The kinds of requests, with the share of each in percent. */
export const kinds: readonly [name: string, share: number, ask: (seed: Seeded) => Asked][] = [
  ['get an issue', 20, (seed) => ({ method: 'get', path: anIssue(seed) })],
  [
    'list issues by label',
    20,
    (seed) => ({ method: 'get', path: `${aProject(seed)}/issues`, parameters: { labels: seed.random.of(labels) } }),
  ],
  ['get a file', 20, (seed) => ({ method: 'get', path: aFile(seed), parameters: { ref: 'main' } })],
  ['get a raw file', 8, (seed) => ({ method: 'get', path: `${aFile(seed)}/raw`, parameters: { ref: 'main' } })],
  ['list notes', 8, (seed) => ({ method: 'get', path: `${anIssue(seed)}/notes` })],
  [
    'edit an issue',
    7,
    (seed) => ({ method: 'put', path: anIssue(seed), parameters: { title: `Title ${seed.random.below(1000)}` } }),
  ],
  [
    'create an issue',
    6,
    (seed) => ({ method: 'post', path: `${aProject(seed)}/issues`, parameters: { title: 'Created under load' } }),
  ],
  [
    'add a note',
    5,
    (seed) => ({ method: 'post', path: `${anIssue(seed)}/notes`, parameters: { body: 'Noted under load.' } }),
  ],
  ['list projects', 5, () => ({ method: 'get', path: '/projects', parameters: { order_by: 'last_activity_at' } })],
  [
    'commit',
    1,
    (seed) => {
      const parameters = { branch: 'main', commit_message: 'Change', content: `${seed.random.below(1e9)}\n` };
      return { method: 'put', path: aFile(seed), parameters };
    },
  ],
];

const fileUrl = ({ id }: { id: number }, file: string) =>
  `/projects/${id}/repository/files/${encodeURIComponent(file)}`;
const aProject = ({ random, ids }: Seeded) => `/projects/${random.of(ids)}`;
const anIssue = (seed: Seeded) => `${aProject(seed)}/issues/${1 + seed.random.below(issuesPerProject)}`;
const aFile = (seed: Seeded) =>
  fileUrl({ id: seed.random.of(seed.ids) }, `docs/${seed.random.below(filesPerProject)}.md`);

/** Every kind as often as its share says. */
const deck = kinds.flatMap((kind) => Array.from({ length: kind[1] }, () => kind));

/** A request with the name of its kind. */
export type KindOfAsked = Asked & { kind: string };

/** The next request. */
export function requestFrom(seed: Seeded): KindOfAsked {
  const [kind, , ask] = seed.random.of(deck);
  return { kind, ...ask(seed) };
}

/** What a thread posts when it has finished: senders and bystanders have one each, so that none counts the time of another as that of the server. */
export function resultOf<Result>(script: string, workerData: object): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const worker = new Worker(new URL(script, import.meta.url), { workerData });
  worker.once('message', resolve);
  worker.once('error', reject);
  return promise;
}

export const watchBystander = async (
  url: string,
  seconds: number,
  more: Pick<Bystander, 'path' | 'interval_ms'> = {},
): Promise<Times> => new Times(await resultOf<Sample[]>('bystander.ts', { url, seconds, ...more } satisfies Bystander));

/** The requests that are sent again and again. */
const differentRequests = 8000;

/** Sends the mix at a steady rate, in requests a second. */
export function sendSteadily(seed: Seeded, url: string, rate: number, seconds: number): Promise<SteadyAnswer[]> {
  const requests = Array.from({ length: differentRequests }, () => requestFrom(seed));
  const load: SteadyLoad = { url: `${url}/api/v4`, token: seed.api.token!, requests, rate, seconds };
  return resultOf('steady_load.ts', load);
}
