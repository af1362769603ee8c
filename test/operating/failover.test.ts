import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maximumConnections } from '../../src/commands/database.ts';
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
  let isOver = false;
  const read: number[] = [];
  const reading = (async () => {
    while (!isOver) read.push((await server.root.get('/projects')).status);
  })();
  await pair.promote();
  await writing;
  isOver = true;
  await reading;
  // Each connection that was open breaks once. Whoever needs a new one waits for the database.
  const refused = read.filter((status) => status !== 200);
  assert.ok(refused.length <= maximumConnections && refused.every((status) => status === 503), read.join());
  assert.equal(read.at(-1), 200);
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
