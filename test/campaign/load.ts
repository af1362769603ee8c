/**
 * The second part of `npm run campaign`: requests of many kinds at a steady rate, sent when their time has come and not when the one before was answered, so
 * that a slow answer does not hide those that wait behind it. CAMPAIGN_LOAD_MINUTES says for how long. It needs a machine with nothing else to do.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Client, clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { environmentFor, type Instance, startInstance } from '../support/instance.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { fileUrl } from '../support/repository.ts';

const minutes = Number(process.env.CAMPAIGN_LOAD_MINUTES ?? 10);
const perSecond = 100;
const projects = 20;
const issuesPerProject = 50;
const filesPerProject = 5;
/** How often somebody asks whether the server is alive. */
const bystanderInterval_ms = 20;
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

/** Times in milliseconds. */
class Times {
  readonly all: number[] = [];
  errors = 0;

  at(share: number): number {
    const sorted = this.all.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! * 10) / 10;
  }

  row() {
    return {
      requests: this.all.length,
      errors: this.errors,
      p50_ms: this.at(0.5),
      p99_ms: this.at(0.99),
      longest_ms: this.at(1),
    };
  }
}

/** Sends at a steady rate until `end`; resolves when the last was answered. Times count from when a request was due. */
async function atRate(interval_ms: number, end: number, send: (times_due: number) => Promise<void>): Promise<void> {
  const sent: Promise<void>[] = [];
  for (let due = performance.now(); due < end; due += interval_ms) {
    const early_ms = due - performance.now();
    if (early_ms > 1) await sleep(early_ms);
    sent.push(send(due));
  }
  await Promise.all(sent);
}

async function watchBystander(url: string, end: number): Promise<Times> {
  const times = new Times();
  await atRate(bystanderInterval_ms, end, async (due) => {
    const answer = await fetch(`${url}/-/liveness`).catch(() => undefined);
    await answer?.arrayBuffer();
    times.all.push(performance.now() - due);
    if (!answer?.ok) times.errors++;
  });
  return times;
}

async function putLoad(seed: Seeded, end: number): Promise<Map<string, Times>> {
  const times = new Map(kinds.map(([name]) => [name, new Times()]));
  await atRate(1000 / perSecond, end, async (due) => {
    const [name, , send] = seed.random.of(deck);
    const answer = await send(seed).catch(() => undefined);
    const of = times.get(name)!;
    of.all.push(performance.now() - due);
    if (answer === undefined || answer.status >= 300) of.errors++;
  });
  return times;
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
  const quiet = await watchBystander(url, performance.now() + quiet_s * 1000);
  const before_bytes = await instance.memory_bytes();
  const end = performance.now() + minutes * 60_000;
  const [times, bystander] = await Promise.all([putLoad(seed, end), watchBystander(url, end)]);
  const after_bytes = await instance.memory_bytes();

  const rows = [...times, ['bystander, quiet', quiet], ['bystander, under load', bystander]] as [string, Times][];
  console.table(Object.fromEntries(rows.map(([name, of]) => [name, of.row()])));
  console.log(`memory: ${Math.round(before_bytes / 1e6)} MB before, ${Math.round(after_bytes / 1e6)} MB after`);
  for (const [name, { errors }] of rows) assert.equal(errors, 0, name);
  const allowed_ms = quiet.at(0.99) + mostDelay_ms;
  const late = bystander.all.filter((waited_ms) => waited_ms > allowed_ms).length;
  assert.equal(late, 0, `${late} of ${bystander.all.length} calls of the bystander took more than ${allowed_ms} ms`);
});
