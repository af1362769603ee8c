/** Two sites: the database of the secondary follows that of the primary. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { test } from 'node:test';
import { geoRoutes } from '../../src/areas/index.ts';
import {
  addNode,
  eventually,
  handshake,
  isReady,
  type Site,
  signature,
  startPrimary,
  startSecondary,
} from '../support/two_sites.ts';
import { coppice, rootToken } from './coppice.ts';
import { isCopied, makeProject, repositoryOf } from './geo/repositories.ts';

interface Following {
  state: string;
  problem: string | null;
  slot: string | null;
}

const followingOf = async (secondary: Site): Promise<Following> =>
  (await secondary.ask<Following>('select state, problem, slot from geo_following'))[0]!;

/** How the secondary says that it is. */
const healthOf = async (
  { server }: Site,
  node: number,
): Promise<{ health_status: string; health: string; lag_seconds: number }> => {
  const { body } = await server.root.get(`/geo_nodes/${node}/status`);
  return { ...body, lag_seconds: body.db_replication_lag_seconds };
};

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
  const before = await makeProject(primary, { name: 'Before' });
  const secondary = await startSecondary(primary, { COPPICE_LOG_LEVEL: 'info' });
  let logged = '';
  secondary.server.child.stdout!.on('data', (part) => {
    logged += part;
  });
  let node = 0;

  await t.test('it waits until the primary knows it', async () => {
    const message = '503 Service Unavailable - The primary does not know the node Lisbon.';
    await eventually('the reason', async () => (await secondary.readiness()).message === message);
    assert.equal((await secondary.readiness()).status, 503);
    node = await addNode(primary, secondary);
    await eventually('the first copy', () => isReady(secondary));
    await eventually('the end of it in the log', async () => logged.includes('the database of the primary is copied'));
    assert.match(logged, /"the database of the primary is being copied: \d+ of [1-9]\d+ tables[",]/);
    assert.equal((await secondary.server.root.get(`/projects/${before}`)).body.name, 'Before');
    await follows(primary, secondary);
  });

  await t.test('a token that is revoked on the primary is refused', async () => {
    const { body: token } = await primary.server.root.post('/users/1/personal_access_tokens', {
      name: 'Short',
      scopes: ['api'],
    });
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

  await t.test('nothing of the primary opens without a signature that is new', async (test) => {
    const url = `${primary.environment.COPPICE_URL}/api/v4/geo`;
    for (const { method, path } of [...geoRoutes, { method: 'GET', path: '/primary' }])
      for (const headers of [{}, { 'private-token': rootToken }])
        assert.equal((await fetch(`${url}${path}`, { method, headers })).status, 401, `${method} ${path}`);
    const used = await signature(primary);
    assert.equal(await handshake(primary, used), '200');
    assert.equal(await handshake(primary, used), '401 replay');
    assert.equal(await handshake(primary, await signature(primary, 'Nowhere')), '401 node');
    test.mock.timers.enable({ apis: ['Date'], now: Date.now() - 62_000 });
    const old = await signature(primary);
    test.mock.timers.reset();
    assert.equal(await handshake(primary, old), '401 clock');
  });

  await t.test('it says so when the primary is silent, and goes on when that speaks again', async () => {
    const { child } = primary.server;
    child.kill('SIGSTOP');
    await eventually('the delay', async () => {
      // As if it had been silent for two minutes.
      await secondary.ask(`update geo_following set caught_up_at = now() - interval '2 minutes'`);
      const { health_status, health, lag_seconds } = await healthOf(secondary, node);
      return (
        health_status === 'Unhealthy' && /The database is 1[12]\d seconds behind\./.test(health) && lag_seconds >= 119
      );
    });
    assert.equal(await isReady(secondary), true);
    child.kill('SIGCONT');
    await follows(primary, secondary);
    await eventually('health', async () => (await healthOf(secondary, node)).health_status === 'Healthy');
  });

  await t.test('it goes on when the server of the primary, or either database, was killed', async () => {
    await secondary.killDatabase();
    await follows(primary, secondary);
    await primary.killDatabase();
    await eventually('the primary', () => isReady(primary));
    await follows(primary, secondary);
    await primary.kill();
    await eventually('the reason', async () =>
      /^The primary cannot be reached: .+\.$/.test((await healthOf(secondary, node)).health),
    );
    assert.equal(await isReady(secondary), true);
    await primary.restart();
    await follows(primary, secondary);
  });

  await t.test(
    'it copies the database anew when the primary has not kept its changes, and keeps its repositories',
    async () => {
      const { slot } = await followingOf(secondary);
      const sites = { primary, secondary, node };
      await isCopied(sites, before);
      const { path: copy } = repositoryOf(secondary, before);
      const { ino } = await stat(copy);
      await secondary.kill();
      await secondary.killDatabase();
      await primary.ask(`alter system set max_slot_wal_keep_size = '1MB'`);
      await primary.ask('select pg_reload_conf()');
      await eventually('the loss of the slot', async () => {
        await primary.ask(`select pg_logical_emit_message(false, 'test', ''), pg_switch_wal()`);
        await primary.ask('checkpoint');
        return (await primary.ask(`select from pg_replication_slots where wal_status = 'lost'`)).length > 0;
      });
      await primary.ask(`alter system reset max_slot_wal_keep_size`);
      await primary.ask('select pg_reload_conf()');
      const missed = await makeProject(primary, { name: 'Missed' });
      await secondary.restart();
      await eventually('the new copy', async () => {
        const following = await followingOf(secondary);
        return following.state === 'following' && following.slot !== slot;
      });
      assert.equal((await secondary.server.root.get(`/projects/${missed}`)).body.name, 'Missed');
      await isCopied(sites, missed);
      assert.equal((await stat(copy)).ino, ino);
      await follows(primary, secondary);
    },
  );

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
    assert.deepEqual(
      [other.code, other.err.trim()],
      [2, 'The database belongs to another installation than the primary.'],
    );
    await primary.ask(`update instance set uuid = '${own!.uuid}'`);
    await secondary.restart();
    await follows(primary, secondary);
  });

  await t.test(
    'the primary keeps nothing for a node that was removed, and checks find the reason on either side',
    async () => {
      const check = async (site: Site) => (await coppice(['geo', 'check'], site.environment)).out.trim().split('\n');
      assert.deepEqual(await Promise.all([primary, secondary].map(check)), [
        ['No problems found.'],
        ['No problems found.'],
      ]);
      assert.equal((await primary.server.root.put(`/geo_nodes/${node}`, { enabled: false })).status, 200);
      assert.equal(await handshake(primary, await signature(primary)), '401 disabled');
      const isOff = async () =>
        (await check(primary)).join() === 'The node Lisbon is not connected to the database.' &&
        (await check(secondary));
      assert.deepEqual(await eventually('the end of the session', isOff), ['The site is disabled.']);
      assert.equal((await primary.server.root.delete(`/geo_nodes/${node}`)).status, 204);
      await eventually(
        'the end of the slot',
        async () => (await primary.ask('select from pg_replication_slots')).length === 0,
      );
      assert.equal(await isReady(secondary), true);
    },
  );
});
