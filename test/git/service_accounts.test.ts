/** Programs that work with git under an account of their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordDigest } from '../../src/access/index.ts';
import { ownAddress } from '../support/address.ts';
import { remoteOf } from '../support/git.ts';
import { world } from '../support/world.ts';
import { begin, clone, refusedClone, remoteFor } from './work_tree.ts';

const environment = await ownAddress();

test('a service account clones and pushes with a token as its role allows, and never with a password', async () => {
  const here = await world({ environment });
  const { as, project, db, url } = here;
  const first = await begin(remoteFor(here, 'maintainer'), 'main');
  const head = await first.commit('README.md', 'one\n');
  await first.git('push', '-q', 'origin', 'main');

  const { id, username } = (await as('admin').post('/service_accounts')).body;
  const tokenFor = async (scopes: string[]): Promise<string> =>
    (await as('admin').post(`/users/${id}/personal_access_tokens`, { name: 'git', scopes })).body.token;
  const [reading, writing] = [await tokenFor(['read_repository']), await tokenFor(['write_repository'])];
  assert.match(await refusedClone(remoteOf(url, project.full_path, writing)), /not found/i);
  assert.equal(
    (await as('owner').post(`/projects/${project.id}/members`, { user_id: id, access_level: 20 })).status,
    201,
  );
  const work = await clone(remoteOf(url, project.full_path, writing));
  assert.equal(await work.git('rev-parse', 'HEAD'), head);
  await work.git('switch', '-q', '-c', 'nightly');
  const commit = await work.commit('build.txt', 'built\n');
  assert.match(await work.refused('push', 'origin', 'nightly'), /403|not allowed/);
  await as('owner').put(`/projects/${project.id}/members/${id}`, { access_level: 30 });
  await work.git('push', '-q', 'origin', 'nightly');
  const { body: branch } = await as('reporter').get(`/projects/${project.id}/repository/branches/nightly`);
  assert.equal(branch.commit.id, commit);
  const pushes = db
    .selectFrom('events')
    .select('action')
    .where('author_id', '=', id)
    .where('project_id', '=', project.id);
  assert.deepEqual(
    (await pushes.orderBy('id').execute()).map(({ action }) => action),
    ['joined', 'pushed'],
  );
  const onlyReading = await clone(remoteOf(url, project.full_path, reading));
  await onlyReading.commit('a', 'a');
  assert.match(await onlyReading.refused('push', 'origin', 'main'), /403|not allowed|denied/i);

  // Even if one was written into the database directly.
  const password = 'a long enough secret';
  await db
    .updateTable('users')
    .set({ password_digest: await passwordDigest(password) })
    .where('id', '=', id)
    .execute();
  const remote = new URL(`${url}/${project.full_path}.git`);
  Object.assign(remote, { username, password });
  assert.match(await refusedClone(remote.href), /Access denied|Authentication failed/);
});
