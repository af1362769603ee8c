/**
 * The sixth part of `npm run campaign`: a member who sends long texts, asks for what is costly, and imports from a server that is slow. CAMPAIGN_MEMBERS_SECONDS says
 * for how long. It needs Linux, where every address of 127.0.0.0/8 is this machine.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, clientOf } from '../support/client.ts';
import { watchBystander } from './load_mix.ts';
import { started } from './load_server.ts';

const seconds = Number(process.env.CAMPAIGN_MEMBERS_SECONDS ?? 20);
const bystanderInterval_ms = 100;
const longestAnswer_ms = 2000;
/** Of an import of a small repository, beside those that are slow. */
const longestImport_ms = 30_000;
const address = '127.0.0.2';

let url: string;
let api: Client;
let member: Client;
let project: { id: number; path_with_namespace: string };
const rows: Record<string, object> = {};
after(() => console.table(rows));

before(async () => {
  ({ url, api } = await started());
  await api.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
  const person = { name: 'Member', username: 'member', email: 'member@example.com', skip_confirmation: true };
  const { body: user } = await api.post('/users', { ...person, force_random_password: true });
  const { body: token } = await api.post(`/users/${user.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] });
  member = clientOf(`${url}/api/v4`, token.token);
  ({ body: project } = await api.post('/projects', {
    name: 'Large',
    visibility: 'public',
    initialize_with_readme: true,
  }));
  const content = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n');
  const actions = [
    { action: 'create', file_path: 'lines.txt', content },
    { action: 'create', file_path: 'large.txt', content: 'leaf of a tree\n'.repeat(350_000) },
  ];
  const made = await api.post(`/projects/${project.id}/repository/commits`, {
    ...{ branch: 'other', start_branch: 'main', commit_message: 'Add', actions },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
});

/** Sends requests on so many connections, each when the one before it is answered. */
async function flood(connections: number, end_ms: number, next: () => { method: string; path: string; body?: string }) {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'private-token': member.token!, 'content-type': 'application/json' };
  const send = async () => {
    const { method, path, body } = next();
    const sent = request(`${url}${path}`, { method, agent, localAddress: address, headers }).end(body);
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
  };
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end_ms) await send();
    }),
  );
  agent.destroy();
}

async function withstand(name: string, connections: number, next: Parameters<typeof flood>[2]): Promise<void> {
  const end_ms = performance.now() + seconds * 1000;
  const at = { path: `/api/v4/projects/${project.id}`, interval_ms: bystanderInterval_ms };
  const [bystander, supervisor] = await Promise.all([
    watchBystander(url, seconds, at),
    watchBystander(url, seconds, { path: '/-/readiness', interval_ms: bystanderInterval_ms }),
    flood(connections, end_ms, next),
  ]);
  for (const [who, times] of Object.entries({ bystander, supervisor })) {
    rows[`${name}: ${who}`] = times.row;
    assert.deepEqual([times.errors, times.longerThan(longestAnswer_ms)], [0, 0], who);
  }
}

test('long texts of one member keep nobody else waiting', () => {
  const body = JSON.stringify({ text: '*a* &<'.repeat(170_000) });
  return withstand('long texts', 100, () => ({ method: 'POST', path: '/api/v4/markdown', body }));
});

test('what is costly to read keeps nobody else waiting', () => {
  const at = `/api/v4/projects/${project.id}/repository`;
  let count = 0;
  const paths = [
    () => `${at}/files/lines.txt/blame?ref=other&range[start]=${1 + (count % 10_000)}&range[end]=20000`,
    () => `${at}/files/large.txt?ref=other`,
    () => `${at}/compare?from=main&to=other`,
  ];
  return withstand('costly reading', 30, () => ({ method: 'GET', path: paths[count++ % paths.length]!() }));
});

test('imports from a slow server keep those of nobody else waiting', async (t) => {
  const slow = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
    for (; !response.destroyed; await sleep(100)) response.write('0'.repeat(30));
  }).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  t.after(() => slow.close().closeAllConnections());
  const import_url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/a.git`;
  for (let number = 0; number < 6; number++) await member.post('/projects', { name: `slow ${number}`, import_url });
  await sleep(1000);
  const began = performance.now();
  const own = `${url}/${project.path_with_namespace}.git`;
  const { body } = await api.post('/projects', { name: 'quick', import_url: own });
  const state = async () => (await api.get(`/projects/${body.id}`)).body.import_status;
  while (['scheduled', 'started'].includes(await state())) await sleep(200);
  const took_ms = performance.now() - began;
  rows['the import of another'] = { requests: 1, errors: 0, longest_ms: Math.round(took_ms) };
  assert.equal(await state(), 'finished');
  assert.ok(took_ms < longestImport_ms, `it took ${took_ms} ms`);
});
