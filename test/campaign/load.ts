/**
 * The second part of `npm run campaign`: requests of many kinds at a steady rate, sent when their time has come and not when the one before was answered, so
 * that a slow answer does not hide those that wait behind it. CAMPAIGN_LOAD_MINUTES says for how long. It needs a machine with nothing else to do.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type Answer, type Client, clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { environmentFor, type Instance, startInstance } from '../support/instance.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { fileUrl } from '../support/repository.ts';
import { atRate, type Sample, Times } from './times.ts';

const minutes = Number(process.env.CAMPAIGN_LOAD_MINUTES ?? 10);
const perSecond = 100;
const projects = 20;
const issuesPerProject = 50;
const filesPerProject = 5;
const quiet_s = 5;
/** How much longer than on a quiet server they may wait. */
const mostDelay_ms = 50;

interface Seeded {
  api: Client;
  random: Random;
  ids: number[];
}

const labels = ['bug', 'feature', 'question', 'chore'];

async function seeded(api: Client): Promise<Seeded> {
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

/** The kinds of requests, with the share of each in percent. */
const kinds: readonly [name: string, share: number, send: (seed: Seeded) => Promise<Answer>][] = [
  ['get an issue', 20, (seed) => seed.api.get(anIssue(seed))],
  ['list issues by label', 20, (seed) => seed.api.get(`${aProject(seed)}/issues`, { labels: seed.random.of(labels) })],
  ['get a file', 20, (seed) => seed.api.get(aFile(seed), { ref: 'main' })],
  ['get a raw file', 8, (seed) => seed.api.get(`${aFile(seed)}/raw`, { ref: 'main' })],
  ['list notes', 8, (seed) => seed.api.get(`${anIssue(seed)}/notes`)],
  ['edit an issue', 7, (seed) => seed.api.put(anIssue(seed), { title: `Title ${seed.random.below(1000)}` })],
  ['create an issue', 6, (seed) => seed.api.post(`${aProject(seed)}/issues`, { title: 'Created under load' })],
  ['add a note', 5, (seed) => seed.api.post(`${anIssue(seed)}/notes`, { body: 'Noted under load.' })],
  ['list projects', 5, (seed) => seed.api.get('/projects', { order_by: 'last_activity_at' })],
  [
    'commit',
    1,
    (seed) => seed.api.put(aFile(seed), { branch: 'main', commit_message: 'Change', content: `${seed.random.below(1e9)}\n` }),
  ],
];

const aProject = ({ random, ids }: Seeded) => `/projects/${random.of(ids)}`;
const anIssue = (seed: Seeded) => `${aProject(seed)}/issues/${1 + seed.random.below(issuesPerProject)}`;
const aFile = (seed: Seeded) => fileUrl({ id: seed.random.of(seed.ids) }, `docs/${seed.random.below(filesPerProject)}.md`);

/** Every kind as often as its share says. */
const deck = kinds.flatMap((kind) => Array.from({ length: kind[1] }, () => kind));

async function putLoad(seed: Seeded, end: number): Promise<Map<string, Times>> {
  const times = new Map(kinds.map(([name]) => [name, new Times()]));
  await atRate(1000 / perSecond, end, async (due) => {
    const [name, , send] = seed.random.of(deck);
    const answer = await send(seed).catch(() => undefined);
    times.get(name)!.add({ waited_ms: performance.now() - due, ok: answer !== undefined && answer.status < 300 });
  });
  return times;
}

/** The bystander has a thread of its own, so that what the sender does is not counted as time of the server. */
function watchBystander(url: string, seconds: number): Promise<Times> {
  const { promise, resolve, reject } = Promise.withResolvers<Times>();
  const worker = new Worker(new URL('bystander.ts', import.meta.url), { workerData: { url, seconds } });
  worker.once('message', (samples: Sample[]) => resolve(new Times(samples)));
  worker.once('error', reject);
  return promise;
}

async function started(): Promise<{ instance: Instance; url: string; api: Client }> {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-campaign-'));
  atFileEnd(() => rm(data, { recursive: true, force: true }));
  const environment = await environmentFor(data, 'load-token-for-one-run-only');
  const instance = await startInstance(environment);
  atFileEnd(instance.stop);
  return {
    instance,
    url: environment.COPPICE_URL,
    api: clientOf(`${environment.COPPICE_URL}/api/v4`, environment.COPPICE_ROOT_TOKEN),
  };
}

test(`${perSecond} requests a second are answered for ${minutes} minutes, and keep nobody waiting`, async () => {
  const { instance, url, api } = await started();
  const seed = await seeded(api);
  const quiet = await watchBystander(url, quiet_s);
  const before_bytes = await instance.memory_bytes();
  const seconds = minutes * 60;
  const [times, bystander] = await Promise.all([putLoad(seed, performance.now() + seconds * 1000), watchBystander(url, seconds)]);
  const after_bytes = await instance.memory_bytes();

  const rows = [...times, ['bystander, quiet', quiet], ['bystander, under load', bystander]] as [string, Times][];
  console.table(Object.fromEntries(rows.map(([name, of]) => [name, of.row])));
  console.log(`memory: ${Math.round(before_bytes / 1e6)} MB before, ${Math.round(after_bytes / 1e6)} MB after`);
  for (const [name, { errors }] of rows) assert.equal(errors, 0, name);
  const allowed_ms = quiet.at(0.99) + mostDelay_ms;
  const late = bystander.longerThan(allowed_ms);
  assert.equal(late, 0, `${late} calls of the bystander took more than ${allowed_ms} ms`);
});
