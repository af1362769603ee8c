/**
 * The fifth part of `npm run campaign`: people with a project of their own, and holders of the public key of a web page, who send what is costly to read.
 * CAMPAIGN_READERS_SECONDS says for how long each of them does.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync } from 'node:zlib';
import type { Client } from '../support/client.ts';
import { watchBystander } from './load_mix.ts';
import { started } from './load_server.ts';
import { Times } from './times.ts';

const seconds = Number(process.env.CAMPAIGN_READERS_SECONDS ?? 20);
const bystanderInterval_ms = 100;
const longestAnswer_ms = 2000;
/** What a project waits for its own files while another one has the other thread, and a while for the machine. */
const longestReading_ms = 5000;

interface Project {
  id: number;
  /** The address that takes errors, with its public key. */
  collector: string;
}

let url: string;
let api: Client;
let [hostile, quiet]: Project[] = [];

async function projectThatTakesErrors(name: string): Promise<Project> {
  const { body: project } = await api.post('/projects', { name, visibility: 'public', initialize_with_readme: true });
  const tracking = `/projects/${project.id}/error_tracking`;
  await api.put(`${tracking}/settings`, { active: true, integrated: true });
  const { body: key } = await api.post(`${tracking}/client_keys`);
  const collector = `${url}/api/v4/error_tracking/collector/api/${project.id}/store/?sentry_key=${key.public_key}`;
  return { id: project.id, collector };
}

before(async () => {
  ({ url, api } = await started());
  hostile = await projectThatTakesErrors('Hostile');
  quiet = await projectThatTakesErrors('Quiet');
});

const rows: Record<string, object> = {};
after(() => console.table(rows));

async function commit({ id }: Project, files: Record<string, string>): Promise<string> {
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  const change = { branch: 'main', commit_message: 'Add files', actions };
  const { status, body } = await api.post(`/projects/${id}/repository/commits`, change);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** Reports an error in files with source maps, and resolves to the path of its latest event when it is grouped. */
async function reported({ id, collector }: Project, release: string, files: readonly string[]): Promise<string> {
  const frames = files.map((filename) => ({ filename, function: 'p', lineno: 1, colno: 1 }));
  const event = { release, exception: { values: [{ type: 'A', value: release, stacktrace: { frames } }] } };
  const { status } = await fetch(collector, { method: 'POST', body: JSON.stringify(event) });
  assert.equal(status, 200);
  const errors = `/projects/${id}/error_tracking/errors`;
  for (;;) {
    const [error] = (await api.get(errors)).body;
    if (error) return `${errors}/${error.id}/events/latest`;
    await sleep(100);
  }
}

/** Repeats something until `end_ms`, and measures how long it takes each time. */
async function repeat(end_ms: number, work: () => Promise<boolean>): Promise<Times> {
  const times = new Times();
  while (performance.now() < end_ms) {
    const began = performance.now();
    times.add({ ok: await work(), waited_ms: performance.now() - began });
    await sleep(bystanderInterval_ms);
  }
  return times;
}

/**
 * Runs an attack, while a bystander asks for a project and another person has files of their own read.
 * @param attack ends by itself at the time that it is given
 */
async function withstand(
  name: string,
  attack: (end_ms: number) => Promise<unknown>,
  read?: () => Promise<boolean>,
): Promise<void> {
  const end_ms = performance.now() + seconds * 1000;
  const path = `/api/v4/projects/${quiet!.id}`;
  const [bystander, reader] = await Promise.all([
    watchBystander(url, seconds, { path, interval_ms: bystanderInterval_ms }),
    read && repeat(end_ms, read),
    attack(end_ms),
  ]);
  for (const [who, times, most_ms] of [
    ['bystander', bystander, longestAnswer_ms],
    ['reader', reader, longestReading_ms],
  ] as const) {
    if (!times) continue;
    rows[`${name}: ${who}`] = times.row;
    assert.equal(times.errors, 0, who);
    assert.equal(times.longerThan(most_ms), 0, `${who}: ${times.longerThan(most_ms)} took more than ${most_ms} ms`);
  }
}

const semicolons = 10_000_000;
const sourceMap = (mappings: string, name: string) =>
  JSON.stringify({ version: 3, sources: [name], names: [], mappings });

test('source maps of ten million lines keep nobody else waiting', async () => {
  const files = ['a', 'b', 'c', 'd'];
  let release = '';
  for (const name of files)
    release = await commit(hostile!, {
      [`${name}.js`]: 'x',
      [`${name}.js.map`]: sourceMap(';'.repeat(semicolons), name),
    });
  const costly = await reported(
    hostile!,
    release,
    files.map((name) => `${name}.js`),
  );
  const harmless = await reported(
    quiet!,
    await commit(quiet!, { 'a.js': 'x', 'a.js.map': sourceMap('AAAA', 'a.ts') }),
    ['a.js'],
  );
  const attack = (end_ms: number) =>
    Promise.all(Array.from({ length: 8 }, () => repeat(end_ms, async () => (await api.get(costly)).status === 200)));
  await withstand('source maps', attack, async () => {
    const { body } = await api.get(harmless);
    return body.stack_trace_entries[0].filename === 'a.ts';
  });
});

const blanks = ' '.repeat(50_000);

test('lock files that make expressions repeat themselves keep nobody else waiting', async () => {
  const line = `${'a'.repeat(100)}${blanks}==${blanks}\n`;
  let number = 0;
  const next = () => String(++number);
  const attack = (end_ms: number) =>
    repeat(end_ms, async () => {
      await commit(hostile!, { [`${next()}/requirements.txt`]: line.repeat(30) });
      return true;
    });
  const lock = (name: string) =>
    JSON.stringify({ lockfileVersion: 3, packages: { [`node_modules/${name}`]: { version: '1.0.0' } } });
  await withstand('lock files', attack, async () => {
    const name = `pear-${next()}`;
    await commit(quiet!, { [`${name}/package-lock.json`]: lock(name) });
    for (;;) {
      const { body } = await api.get(`/projects/${quiet!.id}/dependencies`, { per_page: 100 });
      if (JSON.stringify(body).includes(name)) return true;
      await sleep(50);
    }
  });
});

test('small bodies that become 99 MiB keep nobody else waiting', async () => {
  const bomb = Uint8Array.from(brotliCompressSync(Buffer.alloc(99 * 2 ** 20, ' ')));
  const headers = { 'content-encoding': 'br', 'content-type': 'application/json' };
  const attack = (end_ms: number) =>
    Promise.all(
      Array.from({ length: 16 }, () =>
        repeat(end_ms, async () => {
          const { status } = await fetch(hostile!.collector, { method: 'POST', headers, body: bomb });
          return status < 500;
        }),
      ),
    );
  await withstand('bodies', attack);
});
