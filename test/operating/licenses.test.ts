import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../../src/commands/run.ts';
import { testDatabase } from '../support/database.ts';
import { coppice, dataFolder, folder, type Server, serve } from './coppice.ts';

const issue = [
  'license',
  'issue',
  '--plan',
  'premium',
  '--users',
  '10',
  '--starts',
  '2026-01-01',
  '--expires',
  '2090-01-01',
];
const licensee = ['--name', 'Ada', '--email', 'ada@example.com', '--company', 'Orchard'];

/** The plans of all licenses of a server, newest first. */
const plansOf = async ({ root }: Server): Promise<string[]> =>
  (await root.get('/licenses')).body.map(({ plan }: { plan: string }) => plan);

test('a new server has an Ultimate license until it is deleted, and a restart does not bring it back', async () => {
  const data = await dataFolder();
  let server = await serve({ COPPICE_DATA: data });
  const { body } = await server.root.get('/license');
  assert.deepEqual([body.plan, body.expires_at, body.user_limit, body.expired], ['ultimate', null, 0, false]);
  assert.equal((await server.root.delete(`/license/${body.id}`)).status, 204);
  await server.stop();
  server = await serve({ COPPICE_DATA: data });
  assert.deepEqual(await plansOf(server), []);
  await server.stop();

  const issued = await coppice([...issue, ...licensee, '--add-on', 'GitLab_Geo=1', '--add-on', 'GitLab_FileLocks=2'], {
    COPPICE_DATA: data,
  });
  assert.deepEqual([issued.code, issued.err], [0, '']);
  const withOne = { COPPICE_DATA: data, COPPICE_LICENSE: issued.out.trim() };
  server = await serve(withOne);
  const shown = (await server.root.get('/license')).body;
  assert.deepEqual(shown.licensee, { Name: 'Ada', Email: 'ada@example.com', Company: 'Orchard' });
  assert.deepEqual(shown.add_ons, { GitLab_Geo: 1, GitLab_FileLocks: 2 });
  assert.deepEqual(
    [shown.plan, shown.starts_at, shown.expires_at, shown.user_limit],
    ['premium', '2026-01-01', '2090-01-01', 10],
  );
  await server.stop();
  server = await serve(withOne);
  assert.deepEqual(await plansOf(server), ['premium'], 'it is there already');
  await server.stop();

  const bad = await coppice(['serve'], { COPPICE_DATA: data, COPPICE_LICENSE: 'nonsense' });
  assert.equal(bad.code, 1);
  assert.equal(
    bad.err,
    'COPPICE_LICENSE was refused: The license key is invalid. Make sure it is exactly as you received it.\n',
  );
});

test('a server without a license is on the free plan, and accepts licenses by a configured issuer', async () => {
  const issuer = { COPPICE_DATA: await folder() };
  const { out: license } = await coppice([...issue, ...licensee], issuer);
  const { out: key } = await coppice(['license', 'key'], issuer);
  assert.match(key, /^-----BEGIN PUBLIC KEY-----\n.*\n-----END PUBLIC KEY-----\n$/s);
  const data = await dataFolder();
  let server = await serve({ COPPICE_DATA: data, COPPICE_LICENSE: 'none' });
  assert.deepEqual(await plansOf(server), []);
  assert.equal((await server.root.post('/license', { license: license.trim() })).status, 400);
  await server.stop();
  server = await serve({ COPPICE_DATA: data, COPPICE_LICENSE: 'none', COPPICE_LICENSE_PUBLIC_KEY: key });
  assert.equal((await server.root.post('/license', { license: license.trim() })).status, 201);
  await server.stop();

  const own = await readFile(path.join(data, 'secret.key'), 'utf8');
  for (const wrong of ['nonsense', own]) {
    const refused = await coppice(['serve'], { COPPICE_DATA: data, COPPICE_LICENSE_PUBLIC_KEY: wrong });
    assert.equal(refused.code, 2);
    assert.match(refused.err, /^COPPICE_LICENSE_PUBLIC_KEY must be the public key of the license issuer/);
    assert.equal(refused.err.includes(own.trim()), false);
  }
});

test('invalid options of license issue are refused with a sentence', async (t) => {
  const printed = t.mock.method(console, 'log', () => {});
  const complained = t.mock.method(console, 'error', () => {});
  const refusals: [string[], RegExp][] = [
    [['--name', 'Ada'], /--plan is missing/],
    [['--plan', 'premium'], /--name is missing/],
    [['--plan', 'gold', '--name', 'Ada'], /premium or ultimate, not “gold”/],
    [['--plan', 'premium', '--name', 'Ada', '--users', 'many'], /“many” is not a number/],
    [['--plan', 'premium', '--name', 'Ada', '--starts', '2026-02-30'], /“2026-02-30” is not a day/],
    [['--plan', 'premium', '--name', 'Ada', '--add-on', 'Geo'], /like GitLab_Geo=1, not “Geo”/],
    [
      ['--plan', 'premium', '--name', 'Ada', '--starts', '2026-02-03', '--expires', '2026-02-03'],
      /start before it ends/,
    ],
  ];
  for (const [options, sentence] of refusals) {
    assert.equal(await run(['license', 'issue', ...options]), 2);
    assert.match(complained.mock.calls.at(-1)!.arguments[0], sentence);
  }
  assert.equal(printed.mock.callCount(), 0);
});

test('a change of plan takes effect at once on every server of a database, for users and anonymous callers', async () => {
  const { connectionString } = await testDatabase();
  const shared = {
    COPPICE_DATABASE_URL: connectionString,
    COPPICE_SECRET_KEY: 'the same on both servers, and no other',
    COPPICE_STORAGES: `default=${await folder()}`,
    COPPICE_BLOBS: await folder(),
    COPPICE_LICENSE: 'none',
  };
  const one = await serve({ ...shared, COPPICE_DATA: await folder() });
  const other = await serve({ ...shared, COPPICE_DATA: await folder(), COPPICE_PROCESSES: '2' });
  const { out: license } = await coppice([...issue, ...licensee], {
    COPPICE_DATA: await folder(),
    COPPICE_SECRET_KEY: shared.COPPICE_SECRET_KEY,
  });
  const { id } = (await one.root.post('/projects', { name: 'open', visibility: 'public' })).body;
  assert.equal((await one.root.post(`/projects/${id}/issues`, { title: 'Ripe?' })).status, 201);
  const issues = `/projects/${id}/issues`;
  const anybody = other.as();
  const sees = async (): Promise<boolean[]> => {
    const answers = await Promise.all([other.root, anybody, other.root, anybody].map((client) => client.get(issues)));
    return answers.map(({ body }) => 'weight' in body[0]);
  };
  for (let turn = 0; turn < 5; turn++) {
    assert.deepEqual(await sees(), [false, false, false, false]);
    const added = await one.root.post('/license', { license: license.trim() });
    assert.equal(added.status, 201);
    assert.deepEqual(await sees(), [true, true, true, true]);
    assert.equal((await one.root.delete(`/license/${added.body.id}`)).status, 204);
  }
  assert.deepEqual([await one.stop(), await other.stop()], [0, 0]);
});
