/** A secondary takes the place of a primary that is lost, and the old one only reads when it comes back. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { clone } from '../../git/work_tree.ts';
import { remoteOf } from '../../support/git.ts';
import { eventually, type Sites } from '../../support/two_sites.ts';
import { coppice, rootToken } from '../coppice.ts';
import type { SharedProject } from './repositories.ts';

/** @param project as the API shows it, with three issues and a file */
export async function promotion(
  t: TestContext,
  { primary, secondary }: Sites,
  { id, path_with_namespace }: SharedProject,
): Promise<void> {
  const path = `/projects/${id}`;
  const remote = remoteOf(secondary.environment.COPPICE_URL, path_with_namespace, rootToken);
  const command = (...words: string[]) => coppice(['geo', 'promote', ...words], secondary.environment);
  const status = async () => (await coppice(['geo', 'status'], secondary.environment)).out;

  await t.test('it is not promoted while the primary answers', async () => {
    const { code, err } = await command();
    assert.deepEqual([code, err.trim()], [1, 'The primary answers. Stop it first, or use --force.']);
  });

  await t.test('without the primary it reads, and is promoted while it runs', async () => {
    await eventually('the copy', async () => {
      const left = await secondary.ask(`select from geo_replicas where state <> 'synced'`);
      return left.length === 0;
    });
    await primary.kill();
    await primary.killDatabase();
    assert.equal((await secondary.server.root.get(`${path}/issues`)).body.length, 3);
    assert.equal((await secondary.server.root.post(`${path}/issues`, { title: 'Late' })).status, 503);
    const work = await clone(remote);
    await work.commit('trees.txt', 'pear\n');
    assert.match(await work.refused('push', '-q', 'origin', 'main'), /The primary site cannot be reached\./);
    assert.match(
      await status(),
      /^Porto \(primary\): .*\nLisbon: [\s\S]*\n {2}project_repositories +(\d+) of \1 copied\n/,
    );
    const tried = await command('--dry-run');
    assert.equal(tried.code, 0, tried.err);
    assert.match(
      tried.out.trim(),
      /^The database is as it was on the primary at 20\d\d-.*Z\. Later changes and pushes there are not known here\.\nAll repositories and files that it knows of are as they were then\.$/,
    );
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
}
