/** git with deploy tokens, which act for no user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { type World, world } from '../support/world.ts';
import { begin, clone, refusedClone, remoteFor } from './work_tree.ts';

const environment = await ownAddress();

/** A world whose project has one commit. */
async function place(): Promise<World & { head: string }> {
  const here = await world({ environment });
  const first = await begin(remoteFor(here, 'maintainer'), 'main');
  const head = await first.commit('README.md', 'one\n');
  await first.git('push', '-q', 'origin', 'main');
  return { ...here, head };
}

function remoteWith({ url, project }: World, { username, token }: { username: string; token: string }): string {
  const remote = new URL(`${url}/${project.full_path}.git`);
  Object.assign(remote, { username, password: token });
  return remote.href;
}

test('a deploy token clones and fetches its project, and never pushes', async () => {
  const here = await place();
  const path = `/projects/${here.project.id}/deploy_tokens`;
  const { body: token } = await here.as('maintainer').post(path, { name: 'build', scopes: ['read_repository'] });
  const work = await clone(remoteWith(here, token));
  assert.equal(await work.git('rev-parse', 'HEAD'), here.head);
  await work.git('fetch', '-q');
  await work.commit('README.md', 'two\n');
  assert.match(await work.refused('push', 'origin', 'main'), /403|not allowed/);

  assert.match(
    await refusedClone(remoteWith(here, { ...token, username: 'git' })),
    /Access denied|Authentication failed/,
  );
  assert.equal((await here.as('maintainer').delete(`${path}/${token.id}`)).status, 204);
  assert.match(await work.refused('fetch'), /Access denied|Authentication failed/);
});

test('a deploy token of a group clones the projects below it, and no others', async () => {
  const here = await place();
  const path = `/groups/${here.group.id}/deploy_tokens`;
  const { body: token } = await here.as('owner').post(path, { name: 'build', scopes: ['read_repository'] });
  assert.equal(await (await clone(remoteWith(here, token))).git('rev-parse', 'HEAD'), here.head);
  const other = await place();
  assert.match(await refusedClone(remoteWith(other, token)), /not found/i);
});

test('a deploy token that has expired or lacks the scope clones nothing', async () => {
  const here = await place();
  const path = `/projects/${here.project.id}/deploy_tokens`;
  const make = async (given: object) => (await here.as('maintainer').post(path, { name: 'build', ...given })).body;
  const expired = await make({ scopes: ['read_repository'], expires_at: '2999-01-01' });
  await here.db.updateTable('deploy_tokens').set({ expires_at: '2001-01-01' }).where('id', '=', expired.id).execute();
  assert.match(await refusedClone(remoteWith(here, expired)), /Access denied|Authentication failed/);
  assert.match(await refusedClone(remoteWith(here, await make({ scopes: ['read_registry'] }))), /403|not allowed/);
});
