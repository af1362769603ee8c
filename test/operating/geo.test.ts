/** Two sites: the database of the secondary follows that of the primary. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addNode, eventually, isReady, type Site, startPrimary, startSecondary } from '../support/two_sites.ts';
import { coppice } from './coppice.ts';

interface Following {
  state: string;
  problem: string | null;
  slot: string | null;
}

const followingOf = async (secondary: Site): Promise<Following> =>
  (await secondary.ask<Following>('select state, problem, slot from geo_following'))[0]!;

let count = 0;

/** Whether what is made at the primary from now on can be read at the secondary. */
async function follows(primary: Site, secondary: Site): Promise<void> {
  const name = `topic-${++count}`;
  const topic = await eventually('a change', async () => {
    const made = await primary.server.root.post('/topics', { name, title: name });
    return made.status === 201 && made;
  });
  await eventually('a row', async () => {
    const [row] = await secondary.ask(`select from topics where id = ${topic.body.id}`);
    return row !== undefined;
  });
}

test('a secondary copies the database of its primary and follows it, whatever is killed, lost or upgraded', async (t) => {
  const primary = await startPrimary();
  const before = await primary.server.root.post('/projects', { name: 'Before' });
  assert.equal(before.status, 201);
  const secondary = await startSecondary(primary);

  await t.test('it waits until the primary knows it', async () => {
    const message = '503 Service Unavailable - The primary does not know the node Lisbon.';
    await eventually('the reason', async () => (await secondary.readiness()).message === message);
    assert.equal((await secondary.readiness()).status, 503);
    await addNode(primary);
    await eventually('the first copy', () => isReady(secondary));
    assert.equal((await secondary.server.root.get(`/projects/${before.body.id}`)).body.name, 'Before');
    await follows(primary, secondary);
  });

  await t.test('a token that is revoked on the primary is refused', async () => {
    const { body: token } = await primary.server.root.post('/users/1/personal_access_tokens', { name: 'Short', scopes: ['api'] });
    const holder = secondary.server.as(token.token);
    await eventually('the token', async () => (await holder.get('/user')).status === 200);
    assert.equal((await primary.server.root.delete(`/personal_access_tokens/${token.id}`)).status, 204);
    await eventually('its end', async () => (await holder.get('/user')).status === 401);
  });

  await t.test('it pauses while the schemas differ, and goes on by itself', async () => {
    const { slot } = await followingOf(secondary);
    await primary.ask(`insert into kysely_migration (name, timestamp) values ('9999_later', 'now')`);
    const paused = await eventually('the pause', async () => {
      const following = await followingOf(secondary);
      return following.state === 'paused' && following;
    });
    assert.match(paused.problem!, /^The schema is \d{4}_\w+ \(\d+\) here and 9999_later \(\d+\) on the primary\.$/);
    await primary.ask(`delete from kysely_migration where name = '9999_later'`);
    await follows(primary, secondary);
    assert.deepEqual(await followingOf(secondary), { state: 'following', problem: null, slot });
  });

  await t.test('it goes on when either server or either database was killed', async () => {
    await secondary.killDatabase();
    await follows(primary, secondary);
    await primary.killDatabase();
    await eventually('the primary', () => isReady(primary));
    await follows(primary, secondary);
    await primary.kill();
    assert.equal(await isReady(secondary), true);
    await primary.restart();
    await follows(primary, secondary);
    await secondary.kill();
    await secondary.restart();
    assert.equal(await isReady(secondary), true);
    await follows(primary, secondary);
  });

  await t.test('it copies anew when the primary has not kept its changes', async () => {
    const { slot } = await followingOf(secondary);
    await secondary.kill();
    await secondary.killDatabase();
    await primary.ask(`select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${slot}'`);
    await eventually('the end of the slot', async () => {
      const dropped = `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '${slot}' and active_pid is null`;
      return (await primary.ask(dropped)).length > 0;
    });
    const missed = await primary.server.root.post('/projects', { name: 'Missed' });
    await secondary.restart();
    await eventually('the new copy', async () => {
      const following = await followingOf(secondary);
      return following.state === 'following' && following.slot !== slot;
    });
    assert.equal((await secondary.server.root.get(`/projects/${missed.body.id}`)).body.name, 'Missed');
    await follows(primary, secondary);
  });

  await t.test('a server with another secret key, and one of another installation, do not start', async () => {
    const { environment } = secondary;
    await secondary.server.stop();
    const otherKey = await coppice(['serve'], {
      ...environment,
      COPPICE_SECRET_KEY: 'another key, which is as long as one has to be',
    });
    assert.deepEqual([otherKey.code, otherKey.err.trim()], [2, 'The secret key is not that of the primary.']);
    const [own] = await primary.ask<{ uuid: string }>('select uuid from instance');
    await primary.ask('update instance set uuid = gen_random_uuid()');
    const other = await coppice(['serve'], environment);
    assert.deepEqual([other.code, other.err.trim()], [2, 'The database belongs to another installation than the primary.']);
    await primary.ask(`update instance set uuid = '${own!.uuid}'`);
    await secondary.restart();
    await follows(primary, secondary);
  });

  await t.test('the primary keeps nothing for a node that was removed, and checks find the reason on either side', async () => {
    const check = async (site: Site) => (await coppice(['geo', 'check'], site.environment)).out.trim().split('\n');
    assert.deepEqual(await Promise.all([primary, secondary].map(check)), [['No problems found.'], ['No problems found.']]);
    const { body: nodes } = await primary.server.root.get('/geo_nodes');
    const { id } = nodes.find(({ name }: { name: string }) => name === 'Lisbon');
    assert.equal((await primary.server.root.put(`/geo_nodes/${id}`, { enabled: false })).status, 200);
    const isOff = async () =>
      (await check(primary)).join() === 'The node Lisbon is not connected to the database.' && (await check(secondary));
    assert.deepEqual(await eventually('the end of the session', isOff), ['The site is disabled.']);
    assert.equal((await primary.server.root.delete(`/geo_nodes/${id}`)).status, 204);
    await eventually('the end of the slot', async () => (await primary.ask('select from pg_replication_slots')).length === 0);
    assert.equal(await isReady(secondary), true);
  });
});
