import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { knownMigrations, migrate } from '../../src/db/migrate.ts';
import { coppice, folder, freePort, serve } from './coppice.ts';
import { createDatabase, execute, sharedBy, startPostgres } from './postgres.ts';

async function tablesIn(address: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query(
    "select tablename from pg_tables where schemaname in ('public', 'graphile_worker')",
  );
  await client.end();
  return rows.map(({ tablename }) => tablename);
}

test('two servers share one external database, and a change on one takes effect on the other at once', async (t) => {
  const database = await startPostgres(t);
  const shared = await sharedBy(database);
  const one = await serve({ ...shared, COPPICE_DATA: await folder() });
  const other = await serve({ ...shared, COPPICE_DATA: await folder() });
  const created = await one.root.post('/projects', { name: 'shared', initialize_with_readme: true });
  assert.equal(created.status, 201);
  const place = `/projects/${created.body.id}`;
  for (const address of [
    place,
    `${place}/repository/branches`,
    `${place}/repository/files/README.md?ref=main`,
    '/users',
  ])
    assert.deepEqual((await other.root.get(address)).body, (await one.root.get(address)).body);

  const ada = await one.root.post('/users', {
    username: 'ada',
    name: 'Ada',
    email: 'ada@example.com',
    password: 'correct horse 1',
  });
  const token = await one.root.post(`/users/${ada.body.id}/personal_access_tokens`, { name: 'hers', scopes: ['api'] });
  assert.equal(token.status, 201, JSON.stringify(token.body));
  const asAda = [one, other].map((server) => server.as(token.body.token));
  const seen = async () => Promise.all(asAda.map(async (client) => (await client.get(place)).status));
  assert.deepEqual(await seen(), [404, 404]);
  await other.root.post(`${place}/members`, { user_id: ada.body.id, access_level: 20 });
  assert.deepEqual(await seen(), [200, 200]);
  await one.root.delete(`${place}/members/${ada.body.id}`);
  assert.deepEqual(await seen(), [404, 404]);
  assert.equal((await other.root.delete(`/personal_access_tokens/${token.body.id}`)).status, 204);
  assert.deepEqual(await seen(), [401, 401]);

  assert.equal(await other.stop(), 0);
  const file = path.join(await folder(), 'backup.tar.zst');
  assert.equal((await coppice(['backup', '--to', file], shared)).code, 0);
  assert.equal((await coppice(['check'], shared)).code, 0);
  const full = await coppice(['restore', '--from', file], {
    ...shared,
    COPPICE_DATA: await folder(),
    COPPICE_STORAGES: `default=${await folder()}`,
    COPPICE_BLOBS: await folder(),
  });
  assert.deepEqual([full.code, /is not empty/.test(full.err)], [1, true], 'nothing is restored over a database in use');
  assert.equal((await one.root.get(place)).status, 200);
  assert.equal(await one.stop(), 0);

  const fresh = database.replace('/coppice?', '/fresh?');
  const absent = await coppice(['check'], { ...shared, COPPICE_DATABASE_URL: fresh });
  assert.deepEqual([absent.code, /there is no database fresh at /.test(absent.err)], [1, true], absent.err);
  await createDatabase(database.replace('/coppice?', '/postgres?'), 'fresh');
  const cut = path.join(await folder(), 'cut.tar.zst');
  const content = readFileSync(file);
  writeFileSync(cut, content.subarray(0, content.length - 50));
  const elsewhere = {
    COPPICE_DATABASE_URL: fresh,
    COPPICE_SECRET_KEY: shared.COPPICE_SECRET_KEY,
    COPPICE_DATA: path.join(await folder(), 'data'),
  };
  const failed = await coppice(['restore', '--from', cut], elsewhere);
  assert.deepEqual([failed.code, /is damaged/.test(failed.err)], [1, true], failed.err);
  assert.deepEqual(await tablesIn(fresh), []);
  const keyless = await coppice(['restore', '--from', file], { COPPICE_DATA: path.join(await folder(), 'data') });
  assert.deepEqual([keyless.code, /^The backup has no secret key/.test(keyless.err)], [1, true], keyless.err);

  // What this PostgreSQL has gives the one in the box what it needs.
  const restored = await coppice(['restore', '--from', file], {
    COPPICE_DATA: path.join(await folder(), 'data'),
    COPPICE_SECRET_KEY: shared.COPPICE_SECRET_KEY,
  });
  assert.deepEqual([restored.code, restored.err], [0, '']);
});

test('a database that cannot be used is refused in a sentence, before anything is created', async (t) => {
  const own = await startPostgres(t);
  await execute(
    own,
    "create database narrow encoding 'SQL_ASCII' template template0",
    'create role guest login',
    "create role ada login password 'correct horse 1'",
  );
  const cases: [string, RegExp][] = [
    [own.replace('/coppice?', '/narrow?'), /^The database narrow has the encoding SQL_ASCII, .* Create it with UTF8: /],
    [
      own.replace('user=forge', 'user=guest'),
      /^The role guest may not create tables in the database coppice\. Make it the owner: /,
    ],
    [own.replace('user=forge', 'user=ada'), /: the server asks for a password, which the address does not contain\.$/m],
  ];
  for (const [COPPICE_DATABASE_URL, expected] of cases) {
    const { code, out, err } = await coppice(['serve'], {
      COPPICE_DATABASE_URL,
      COPPICE_DATA: await folder(),
      COPPICE_PORT: String(await freePort()),
    });
    assert.equal(code, 1, err);
    assert.match(err, expected);
    assert.equal(err.trim().split('\n').length, 1);
    assert.ok(!out.includes('Password'));
    assert.deepEqual(await tablesIn(own), []);
  }
});

test('a database is not migrated under a process of an older version', async (t) => {
  const address = await startPostgres(t);
  await migrate(address, { up_to: (await knownMigrations()).at(-2) });
  const environment = {
    COPPICE_DATABASE_URL: address,
    COPPICE_DATA: await folder(),
    COPPICE_PORT: String(await freePort()),
    COPPICE_SSH_PORT: '0',
  };
  const older = new pg.Client({ connectionString: address, application_name: 'coppice worker' });
  await older.connect();
  for (const command of ['serve', 'migrate', 'check']) {
    const { code, err } = await coppice([command], environment);
    assert.deepEqual(
      [code, err.slice(0, 56)],
      [1, 'This version of Coppice has to migrate the database, but'],
      command,
    );
  }
  await older.end();
  const server = await serve(environment);
  assert.equal((await server.root.get('/user')).status, 200);
  assert.equal(await server.stop(), 0);
});

test('servers are listed, and one that cannot work with the others says why and does not start', async (t) => {
  const database = await startPostgres(t);
  const shared = await sharedBy(database);
  const data = await folder();
  const one = await serve({ ...shared, COPPICE_DATA: data, COPPICE_NODE_NAME: 'one', COPPICE_DRAIN_SECONDS: '15' });
  const site = { ...shared, COPPICE_URL: 'http://coppice.test', COPPICE_SSH_PORT: '0' };
  const refusal = async (environment: Record<string, string>): Promise<string> => {
    const port = String(await freePort());
    const { code, err } = await coppice(['serve'], {
      ...{ ...site, COPPICE_PORT: port, COPPICE_DATA: await folder() },
      ...environment,
    });
    assert.equal(code, 1, err);
    return err;
  };
  assert.match(
    await refusal({ COPPICE_URL: 'http://localhost:3000' }),
    /The server one has the address http:\/\/coppice\.test/,
  );
  assert.match(await refusal({ COPPICE_DATA: data }), /The server one uses the same data folder/);
  assert.match(
    await refusal({ COPPICE_STORAGES: `default=${await folder()}` }),
    /is not the one that the other servers use/,
  );
  await execute(
    database,
    `insert into nodes (name, run, host, process_id, version, url, roles)
     values ('two', gen_random_uuid(), 'elsewhere', 7, 'Coppice', 'http://coppice.test', '{requests}')`,
  );
  assert.match(await refusal({ COPPICE_NODE_NAME: 'two' }), /Another server with the node name two runs on elsewhere/);
  await execute(database, "delete from nodes where name = 'two'");

  const two = await serve({ ...shared, COPPICE_DATA: await folder(), COPPICE_NODE_NAME: 'two' });
  const listed = async () => {
    const { out } = await coppice(['nodes'], { ...site, COPPICE_DATA: await folder() });
    return out
      .trim()
      .split('\n')
      .map((line) => line.split('\t').filter((_, column) => [0, 1, 4].includes(column)));
  };
  assert.deepEqual(await listed(), [
    ['one', 'running', 'requests,jobs'],
    ['two', 'running', 'requests,jobs'],
  ]);
  assert.match(
    await (await fetch(`${two.url}/-/metrics`)).text(),
    /coppice_nodes\{version="[^"]+",state="running"\} 2/,
  );

  // It says that it is not ready, and answers until it stops.
  const ended = one.stop();
  let ready: Response;
  do ready = await fetch(`${one.url}/-/readiness`, { headers: { connection: 'close' } });
  while (ready.status === 200);
  assert.deepEqual([ready.status, ready.headers.get('retry-after')], [503, '0']);
  assert.equal((await one.root.get('/projects')).status, 200);
  assert.equal(await ended, 0);
  assert.deepEqual(await listed(), [['two', 'running', 'requests,jobs']]);
});
