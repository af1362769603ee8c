import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folder, serve } from './coppice.ts';
import { startPair } from './postgres.ts';

test('when the primary of two database servers is killed, the standby takes over, and nothing acknowledged is lost', async (t) => {
  const pair = await startPair(t);
  if (!pair) return t.skip('PostgreSQL comes without pg_basebackup here');
  const server = await serve({
    COPPICE_DATABASE_URL: pair.address,
    COPPICE_SECRET_KEY: 'of a server with two database servers',
    COPPICE_DATA: await folder(),
  });
  const project = (await server.root.post('/projects', { name: 'orchard' })).body;
  const labels = `/projects/${project.id}/labels`;
  const statuses = new Set<number>();
  const acknowledged: string[] = [];
  let tried = 0;
  const add = async () => {
    const name = `label-${tried++}`;
    const { status } = await server.root.post(labels, { name, color: '#112233' });
    statuses.add(status);
    if (status === 201) acknowledged.push(name);
  };
  const addUntil = async (count: number) => {
    while (acknowledged.length < count) await Promise.all([add(), add(), add()]);
  };
  await addUntil(30);
  const writing = addUntil(90);
  await pair.kill();
  const waiting = server.root.get('/projects');
  pair.promote();
  await writing;
  assert.equal((await waiting).status, 200, 'a request that came while there was no database has waited for it');
  assert.deepEqual(
    [...statuses].filter((status) => ![201, 503].includes(status)),
    [],
  );
  const kept = new Set<string>();
  for (let page = 1; page <= Math.ceil(tried / 100); page += 1)
    for (const { name } of (await server.root.get(labels, { per_page: 100, page })).body) kept.add(name);
  assert.deepEqual(
    acknowledged.filter((name) => !kept.has(name)),
    [],
  );
  assert.equal(await server.stop(), 0);
});
