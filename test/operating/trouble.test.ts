import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../../src/db/embedded.ts';
import { knownMigrations, migrate } from '../../src/db/migrate.ts';
import { killDatabase } from '../support/instance.ts';
import { everythingFrom, headOf, rawSocket } from '../support/raw_socket.ts';
import { fileUrl } from '../support/repository.ts';
import { coppice, dataFolder, folder, freePort, oneCall, rootToken, serve } from './coppice.ts';

/** Waits until no job waits or runs. */
async function jobsDone({ url }: { url: string }): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${url}/-/metrics`, { headers: oneCall })).text();
    const of = (state: string) => new RegExp(`^coppice_jobs\\{state="${state}"\\} (\\d+)$`, 'm').exec(metrics)?.[1];
    if (of('waiting') === '0' && of('running') === '0') return;
  }
}

test('requests get 503 while the database is down, and work again when it is back', async () => {
  const data = await dataFolder();
  const server = await serve({ COPPICE_DATA: data, COPPICE_LOG_LEVEL: 'warn' });
  let logged = '';
  server.child.stdout!.on('data', (part) => {
    logged += part;
  });
  // The jobs of the start would report their own failure.
  await jobsDone(server);
  const [postmaster] = readFileSync(path.join(data, 'postgres/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(postmaster), 'SIGKILL');
  let answer = await server.root.get('/projects');
  while (answer.status === 200) answer = await server.root.get('/projects');
  const message = '503 Service Unavailable - The database cannot be reached';
  assert.deepEqual([answer.status, answer.body], [503, { message }]);
  let refused = 0;
  assert.equal((await fetch(`${server.url}/-/liveness`, { headers: oneCall })).status, 200);
  for (; answer.status !== 200; refused++) {
    assert.equal(answer.status, 503);
    answer = await server.root.get('/projects');
  }
  const lines = () =>
    logged
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  const back = () => lines().find(({ msg }) => msg === 'the database is back');
  while (!back()) await sleep(20);
  assert.deepEqual(
    lines()
      .map(({ msg }) => msg.split(':')[0])
      .filter((message) => message !== 'The connection to PostgreSQL was lost; it runs again.'),
    ['the database is away', 'the database is back'],
  );
  const { failed_requests } = back();
  assert.ok(failed_requests >= refused, `${failed_requests} of ${refused}`);
  const { body: project, status } = await server.root.post('/projects', {
    name: 'after',
    initialize_with_readme: true,
  });
  assert.equal(status, 201);
  // Jobs go on, too: the first push enqueues maintenance, which writes the commit-graph.
  await server.root.post(fileUrl(project, 'a.txt'), { branch: 'main', commit_message: 'Add a file', content: 'a' });
  await jobsDone(server);
  assert.equal(await server.stop(), 0);
});

test('an idle server says once that the database is away, and once that it is back', async () => {
  const data = await dataFolder();
  const server = await serve({ COPPICE_DATA: data, COPPICE_LOG_LEVEL: 'warn' });
  await jobsDone(server);
  const messages: string[] = [];
  const isOver = Promise.withResolvers<void>();
  createInterface(server.child.stdout!).on('line', (line) => {
    if (line.startsWith('{')) messages.push(JSON.parse(line).msg);
    if (messages.at(-1) === 'the database is back') isOver.resolve();
  });
  await killDatabase(data);
  await isOver.promise;
  assert.deepEqual(
    messages.filter((message) => /^the database/.test(message)),
    ['the database is away: requests are answered with 503', 'the database is back'],
  );
  assert.equal(await server.stop(), 0);
});

test('a client that breaks off an upload, a push or an event is no reason to say that the database is away', async () => {
  const server = await serve({ COPPICE_DATA: await dataFolder(), COPPICE_LOG_LEVEL: 'warn' });
  let logged = '';
  server.child.stdout!.on('data', (part) => {
    logged += part;
  });
  const { body: project } = await server.root.post('/projects', { name: 'apples', initialize_with_readme: true });
  const place = `/projects/${project.id}`;
  await server.root.put(`${place}/error_tracking/settings`, { active: true, integrated: true });
  const { body: keys } = await server.root.get(`${place}/error_tracking/client_keys`);
  const [owner] = project.path_with_namespace.split('/');
  const git = `/${project.path_with_namespace}.git`;
  const basic = { authorization: `Basic ${Buffer.from(`${owner}:${rootToken}`).toString('base64')}` };
  const form = { 'content-type': 'multipart/form-data; boundary=B' };
  const half = '--B\r\ncontent-disposition: form-data; name="file"; filename="half.bin"\r\n\r\nhalf';
  const requests: [method: string, path: string, headers: Record<string, string>, sent: string][] = [
    ['PUT', `${git}/gitlab-lfs/objects/${'0'.repeat(64)}/100000`, basic, half],
    ['POST', `/api/v4${place}/uploads`, { 'private-token': rootToken, ...form }, half],
    ['POST', `/api/0/organizations/${owner}/chunk-upload/`, { authorization: `Bearer ${rootToken}`, ...form }, half],
    [
      'POST',
      `${git}/git-receive-pack`,
      { ...basic, 'content-type': 'application/x-git-receive-pack-request' },
      '00a0half',
    ],
    [
      'POST',
      `/api/v4/error_tracking/collector/api/${project.id}/envelope/?sentry_key=${keys[0].public_key}`,
      {},
      '{}\n{"type',
    ],
  ];
  for (const [method, path, headers, sent] of requests) {
    const begin = async () => {
      const socket = await rawSocket(server.url);
      socket.write(headOf(method, path, { ...headers, 'content-length': 100_000 }) + sent);
      return socket;
    };
    const ended = await begin();
    ended.end();
    assert.match(await everythingFrom(ended), /^HTTP\/1\.1 400 /, path);
    const reset = await begin();
    // The server works on it meanwhile.
    await server.root.get('/user');
    reset.resetAndDestroy();
  }
  assert.equal((await fetch(`${server.url}/-/readiness`, { headers: oneCall })).status, 200);
  assert.equal(await server.stop(), 0);
  assert.doesNotMatch(logged, /the database/);
});

test('a server whose output nobody reads any more answers and stops as before', async () => {
  const data = await dataFolder();
  const server = await serve({ COPPICE_DATA: data });
  server.child.stdout!.destroy();
  server.child.stderr!.destroy();
  for (let count = 0; count < 3; count++) assert.equal((await server.root.get('/projects')).status, 200);
  assert.equal(await server.stop(), 0);
});

test('a backup whose database is killed ends with a sentence, leaves no file, and does not keep the server from starting', async () => {
  const environment = { COPPICE_DATA: await dataFolder() };
  const { child } = await serve(environment);
  const { connectionString } = await startEmbedded(environment.COPPICE_DATA, { use: 'shared' });
  const [holder, looker] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
  for (const client of [holder, looker]) {
    client.on('error', () => {}); // the connection is lost on purpose
    await client.connect();
  }
  await holder.query('begin; lock table labels in access exclusive mode');
  const file = path.join(await folder(), 'backup.tar.zst');
  const backup = coppice(['backup', '--to', file], environment);
  const isWaiting = "application_name = 'coppice backup' and wait_event_type = 'Lock'";
  while ((await looker.query(`select from pg_stat_activity where ${isWaiting}`)).rowCount === 0);
  child.kill('SIGKILL');
  await killDatabase(environment.COPPICE_DATA);
  const { code, err } = await backup;
  assert.equal(code, 1);
  assert.match(err, /^The database was lost, or cannot work now: .+\. Try again when it is back\.\n$/);
  assert.equal(existsSync(file), false);
  const again = await serve(environment);
  assert.equal((await again.root.get('/user')).status, 200);
  assert.equal(await again.stop(), 0);
});

test('a server starts while a command owns the database', async () => {
  const environment = { COPPICE_DATA: await dataFolder() };
  const command = await startEmbedded(environment.COPPICE_DATA, { use: 'shared' });
  assert.ok(command.isOwner);
  const server = await serve(environment);
  assert.equal((await server.root.get('/user')).status, 200);
  const { code, err } = await coppice(['serve'], environment);
  assert.deepEqual([code, err.slice(0, 29)], [1, 'Another Coppice is running on']);
  await command.stop();
  assert.equal((await server.root.get('/user')).status, 200);
  assert.equal(await server.stop(), 0);
});

test('the embedded database is not migrated while a process of an older version owns it', async () => {
  const environment = { COPPICE_DATA: await folder() };
  const older = await startEmbedded(environment.COPPICE_DATA, { use: 'shared' });
  await migrate(older.connectionString, { up_to: (await knownMigrations()).at(-2) });
  const port = { COPPICE_PORT: String(await freePort()) };
  for (const command of ['serve', 'check']) {
    const { code, err } = await coppice([command], { ...environment, ...port });
    assert.deepEqual(
      [code, err.slice(0, 56)],
      [1, 'This version of Coppice has to migrate the database, but'],
      command,
    );
  }
  await older.stop();
  const server = await serve(environment);
  assert.equal((await server.root.get('/user')).status, 200);
  assert.equal(await server.stop(), 0);
});

test('folders that cannot be used and storages that are not named stop a start in a sentence', async () => {
  const environment = { COPPICE_DATA: await dataFolder(), COPPICE_PORT: String(await freePort()) };
  const file = path.join(await folder(), 'file');
  writeFileSync(file, '');
  const second = await folder();
  const server = await serve({ ...environment, COPPICE_STORAGES: `second=${second}` });
  assert.equal((await server.root.post('/projects', { name: 'first' })).status, 201);
  assert.equal(await server.stop(), 0);
  const cases: [Record<string, string>, RegExp][] = [
    [{ COPPICE_BLOBS: file }, /^The folder of COPPICE_BLOBS cannot be used\. .*\n$/],
    [{ COPPICE_STORAGES: `second=${file}` }, /^The folder of the storage second cannot be used\. .*\n$/],
    [{}, /^Repositories are in storages that COPPICE_STORAGES does not name: second\. /],
  ];
  for (const [settings, expected] of cases) {
    const { code, err } = await coppice(['serve'], { ...environment, ...settings });
    assert.equal(code, 1);
    assert.match(err, expected);
  }
  const backup = await coppice(['backup', '--to', path.join(file, 'below', 'backup.tar.zst')], environment);
  assert.deepEqual(backup, { code: 1, out: '', err: `There is no folder ${path.join(file, 'below')}.\n` });
});

/** A file system of 8 MB, or undefined where this account may not have one. */
function smallDisk(t: TestContext, mountPoint: string): string | undefined {
  mkdirSync(mountPoint);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', mountPoint], { stdio: 'ignore' });
  } catch {
    t.skip('this account may not mount a file system');
    return undefined;
  }
  t.after(() => execFileSync('umount', ['--lazy', mountPoint]));
  return mountPoint;
}

test('on a full disk writes fail with a message and reads work; with free space writes work again', async (t) => {
  const top = await folder();
  const disk = smallDisk(t, path.join(top, 'disk'));
  if (disk === undefined) return;
  const server = await serve({ COPPICE_DATA: await dataFolder(), COPPICE_STORAGES: `default=${disk}` });
  const { body: project } = await server.root.post('/projects', { name: 'first', initialize_with_readme: true });
  // Maintenance would free what it has written meanwhile.
  await jobsDone(server);
  const { bavail, bsize } = statfsSync(disk);
  const filler = path.join(disk, 'filler');
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize)));
  const change = { branch: 'main', commit_message: 'Add a file', content: 'x'.repeat(10_000) };
  const refusals = [
    await server.root.post(fileUrl(project, 'a.txt'), change),
    await server.root.post('/projects', { name: 'second' }),
    await server.root.post(`/projects/${project.id}/releases`, { tag_name: 'v1', ref: 'main' }),
    await server.root.post(`/projects/${project.id}/repository/tags`, { tag_name: 'v2', ref: 'main', message: 'two' }),
    await server.root.post(`/projects/${project.id}/repository/branches`, { branch: 'other', ref: 'main' }),
  ];
  for (const { status, body } of refusals) {
    assert.deepEqual([status, body], [503, { message: '503 Service Unavailable - The disk of the server is full' }]);
  }
  const ready = async () => (await fetch(`${server.url}/-/readiness`, { headers: oneCall })).status;
  assert.equal(await ready(), 503);
  assert.equal((await server.root.get(fileUrl(project, 'README.md'), { ref: 'main' })).status, 200);
  truncateSync(filler, 0);
  assert.equal((await server.root.post(fileUrl(project, 'a.txt'), change)).status, 201);
  assert.equal((await server.root.post('/projects', { name: 'second' })).status, 201);
  const release = await server.root.post(`/projects/${project.id}/releases`, { tag_name: 'v1', ref: 'main' });
  assert.equal(release.status, 201, JSON.stringify(release.body));
  assert.equal(await server.stop(), 0);
});

test('a database out of reach and a data folder that cannot be written are named in a sentence', async () => {
  const data = path.join(await folder(), 'data');
  const file = path.join(await folder(), 'file');
  writeFileSync(file, '');
  const cases: [Record<string, string>, RegExp][] = [
    [
      { COPPICE_DATABASE_URL: 'postgresql://forge:secret@127.0.0.1:1/coppice' },
      /^The database of COPPICE_DATABASE_URL cannot be reached: nothing listens at 127\.0\.0\.1:1\.\n$/,
    ],
    [{ COPPICE_DATA: path.join(file, 'data') }, /: a file is where a folder should be \(ENOTDIR\)\.\n$/],
  ];
  for (const [environment, expected] of cases)
    for (const command of [
      ['serve'],
      ['check'],
      ['user', 'create', '--username', 'ada', '--email', 'ada@example.com'],
    ]) {
      const { code, err } = await coppice(command, { COPPICE_DATA: data, ...environment });
      assert.equal(code, 1);
      assert.match(err, expected);
    }
});

/** Makes a folder read-only until the test ends. An account that may change everything needs a mount for that. */
function makeReadOnly(t: TestContext, folder: string): void {
  if (process.getuid!() !== 0) {
    chmodSync(folder, 0o500);
    t.after(() => chmodSync(folder, 0o700));
    return;
  }
  execFileSync('mount', ['--bind', folder, folder]);
  t.after(() => execFileSync('umount', ['--lazy', folder]));
  execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
}

test('a read-only data folder is named in a sentence, whether it is new or in use', async (t) => {
  const used = await dataFolder();
  assert.equal((await coppice(['migrate'], { COPPICE_DATA: used })).code, 0);
  const moves = await coppice(['storage', 'moves'], { COPPICE_DATA: used });
  assert.deepEqual([moves.code, moves.out, moves.err], [0, '', 'No storage move waits, runs or has failed.\n']);
  const fresh = await folder();
  for (const each of [used, fresh]) makeReadOnly(t, each);
  const backup = ['backup', '--to', path.join(await folder(), 'backup.tar.zst')];
  const restore = ['restore', '--from', path.resolve(import.meta.dirname, 'trouble.test.ts')];
  const why =
    /(: (the file system is read-only|this account is not allowed to use it|it cannot be created; the file system is probably read-only)| can be neither read nor created) \((EROFS|EACCES|ENOENT)\)\.\n$/;
  const cases: [data: string, commands: string[][]][] = [
    [used, [['serve'], ['check'], backup]],
    [fresh, [['serve'], ['check'], restore]],
    [path.join(fresh, 'below'), [['serve'], restore]],
  ];
  for (const [data, commands] of cases)
    for (const command of commands) {
      const { code, err } = await coppice(command, { COPPICE_DATA: data });
      assert.equal(code, 1, command[0]);
      assert.match(err, why);
      assert.equal(err.trimEnd().split('\n').length, 1, err);
      assert.ok(err.includes(data), err);
    }
});
