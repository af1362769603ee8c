/** Two sites: the secondary serves beside its primary, and takes its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clone } from '../git/work_tree.ts';
import { remoteOf } from '../support/git.ts';
import { eventually, isReady, startPrimary, startSecondary } from '../support/two_sites.ts';
import { coppice, rootToken } from './coppice.ts';

test('a secondary passes writes on, and becomes the primary when the primary is lost', async (t) => {
  const primary = await startPrimary();
  const secondary = await startSecondary(primary);
  const { COPPICE_URL: url } = secondary.environment;
  assert.equal((await primary.server.root.post('/geo_nodes', { name: 'Lisbon', url })).status, 201);
  await eventually('the first copy', () => isReady(secondary));
  const project = await secondary.server.root.post('/projects', { name: 'Orchard', initialize_with_readme: true });
  assert.equal(project.status, 201);
  const path = `/projects/${project.body.id}`;
  const remote = remoteOf(url, project.body.path_with_namespace, rootToken);
  const command = (...words: string[]) => coppice(['geo', 'promote', ...words], secondary.environment);
  const status = async () => (await coppice(['geo', 'status'], secondary.environment)).out;

  await t.test('what was written through it can be read at once', async () => {
    for (const title of ['One', 'Two', 'Three']) {
      const written = await secondary.server.root.post(`${path}/issues`, { title });
      assert.equal(written.headers.get('x-geo-served-by'), 'Porto');
      const read = await secondary.server.root.get(`${path}/issues/${written.body.iid}`);
      assert.deepEqual([read.status, read.body.title, read.headers.get('x-geo-served-by')], [200, title, null]);
    }
  });

  await t.test('its metrics say what it has passed on, and how far it is behind', async () => {
    const measured = await eventually('a report', async () => {
      const text = await (await fetch(`${url}/-/metrics`)).text();
      return /^coppice_geo_lag_seconds{node="Lisbon"} 0$/m.test(text) && text;
    });
    assert.match(measured, /^coppice_geo_passed_requests_total [1-9]\d*$/m);
    assert.match(measured, /^coppice_geo_replicas{node="Lisbon",replicable="project_repositories",state="synced"} \d+$/m);
  });

  await t.test('what is in a repository is read from the copy when that is current', async () => {
    const url = `${path}/repository/files/README.md`;
    const file = await eventually('the copy', async () => {
      const answer = await secondary.server.root.get(url, { ref: 'main' });
      return answer.headers.get('x-geo-served-by') === null && answer;
    });
    assert.equal(file.status, 200);
    const changed = await secondary.server.root.put(url, { branch: 'main', content: 'ripe', commit_message: 'Change' });
    assert.equal(changed.status, 200);
    const read = await secondary.server.root.get(url, { ref: 'main' });
    assert.equal(Buffer.from(read.body.content, 'base64').toString(), 'ripe');
  });

  await t.test('a clone of it is current, and what is pushed through it is there for the next one', async () => {
    const work = await clone(remote);
    await work.commit('trees.txt', 'apple\n');
    await work.git('push', '-q', 'origin', 'main');
    const head = await work.git('rev-parse', 'HEAD');
    assert.equal(await (await clone(remote)).git('rev-parse', 'HEAD'), head);
    const there = remoteOf(primary.environment.COPPICE_URL, project.body.path_with_namespace, rootToken);
    assert.equal(await (await clone(there)).git('rev-parse', 'HEAD'), head);
  });

  await t.test('it is not promoted while the primary answers', async () => {
    const { code, err } = await command();
    assert.deepEqual([code, err.trim()], [1, 'The primary answers. Stop it first, or use --force.']);
  });

  await t.test('without the primary it reads, and is promoted while it runs', async () => {
    await eventually('the copy', async () => {
      const [left] = await secondary.ask<{ count: string }>(`select count(*) from geo_replicas where state <> 'synced'`);
      return left!.count === '0';
    });
    await primary.kill();
    await primary.killDatabase();
    assert.equal((await secondary.server.root.get(`${path}/issues`)).body.length, 3);
    assert.equal((await secondary.server.root.post(`${path}/issues`, { title: 'Late' })).status, 503);
    const work = await clone(remote);
    await work.commit('trees.txt', 'pear\n');
    assert.match(await work.refused('push', '-q', 'origin', 'main'), /The primary site cannot be reached\./);
    assert.match(await status(), /^Porto \(primary\): .*\nLisbon: [\s\S]*\n {2}project_repositories +1 of 1 copied\n/);
    const tried = await command('--dry-run');
    assert.deepEqual([tried.code, tried.out.trim()], [0, 'All repositories and files are as they were on the primary.']);
    const promoted = await command();
    assert.equal(promoted.code, 0, promoted.err);
    const added = await eventually('the first write', async () => {
      const answer = await secondary.server.root.post(`${path}/issues`, { title: 'Later' }).catch(() => undefined);
      return answer?.status === 201 && answer;
    });
    assert.equal(added.body.iid, 4);
    const [last] = await secondary.ask<{ before: string }>(`select max(id) as before from issues where iid < 4`);
    assert.ok(added.body.id > Number(last!.before) + 1000);
    const commit = { branch: 'main', content: 'riper', commit_message: 'Change' };
    assert.equal((await secondary.server.root.put(`${path}/repository/files/README.md`, commit)).status, 200);
    const { body: nodes } = await secondary.server.root.get('/geo_nodes');
    assert.deepEqual(
      nodes.map(({ name, primary, enabled }: Record<string, unknown>) => [name, primary, enabled]),
      [
        ['Porto', false, false],
        ['Lisbon', true, true],
      ],
    );
  });

  await t.test('it stays the primary when it is started again, whatever its configuration says', async () => {
    await secondary.kill();
    await secondary.restart();
    assert.equal((await secondary.server.root.post(`${path}/issues`, { title: 'Again' })).status, 201);
  });

  await t.test('the old primary only reads when it comes back', async () => {
    await primary.restart();
    assert.equal((await primary.server.root.get(`${path}/issues`)).body.length, 3);
    const refused = await primary.server.root.post(`${path}/issues`, { title: 'Stray' });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, 'You cannot perform write operations on a read-only instance'],
    );
  });
});
