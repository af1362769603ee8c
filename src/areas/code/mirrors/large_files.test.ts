/** Large files that mirrors take along. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownAddress } from '../../../../test/support/address.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { objectFor, pointerFor, upload } from '../../../../test/support/lfs.ts';
import { otherProject, refsOf } from '../../../../test/support/mirrors.ts';
import { allowLocalHooks } from '../../../../test/support/receiver.ts';
import { fileUrl, filledWorld } from '../../../../test/support/repository.ts';
import { sshFor } from '../../../../test/support/ssh.ts';
import { objectsOf } from '../lfs/queries.ts';
import { pullMirror, pushMirror } from './index.ts';

test('large files are transferred over SSH, to the URL that the other server returns', async () => {
  // The other side names its own address.
  const here = await filledWorld({ environment: await ownAddress() });
  await allowLocalHooks(here);
  const { as, project, services } = here;
  const ssh = await sshFor(here);
  const bytes = Buffer.from(`A large apple of ${project.id}`);
  const file = objectFor(bytes);
  assert.equal((await upload(here, 'owner', bytes)).status, 200);
  const added = await as('owner').post(fileUrl(project, 'apple.bin'), {
    ...{ branch: 'main', commit_message: 'Add an apple', content: pointerFor(file) },
  });
  assert.equal(added.status, 201);
  const admit = async (key: string) => {
    assert.equal((await as('owner').post('/user/keys', { title: 'mirror', key })).status, 201);
  };
  const address = (full_path: string) => `ssh://git@127.0.0.1:${ssh.port}/${full_path}.git`;
  const has = async (project_id: number) =>
    (await objectsOf(services.db, project_id, [file.oid])).map(({ oid }) => oid).includes(file.oid);

  const target = await otherProject(here, 'pushed-large');
  const mirrors = `/projects/${project.id}/remote_mirrors`;
  const pushed = (
    await as('owner').post(mirrors, { url: address(target.full_path), enabled: true, auth_method: 'ssh_public_key' })
  ).body;
  await admit((await as('owner').get(`${mirrors}/${pushed.id}/public_key`)).body.public_key);
  await performQueued(services, [pullMirror, pushMirror]);
  assert.equal((await as('owner').get(`${mirrors}/${pushed.id}`)).body.last_error, null);
  assert.deepEqual([await has(target.id), await refsOf(here, target.id)], [true, await refsOf(here, project.id)]);

  const copy = await otherProject(here, 'pulled-large');
  const at = `/projects/${copy.id}/mirror/pull`;
  await admit((await as('owner').put(at, { enabled: true, url: address(project.full_path) })).body.public_key);
  await performQueued(services, [pullMirror, pushMirror]);
  assert.equal((await as('owner').get(at)).body.last_error, null);
  assert.equal(await has(copy.id), true);

  // What is not offered is said: the other side does not let this project have its large files.
  await as('owner').put(`/projects/${project.id}`, { lfs_enabled: false });
  const lacking = await otherProject(here, 'lacking-large');
  const without = `/projects/${lacking.id}/mirror/pull`;
  await admit((await as('owner').put(without, { enabled: true, url: address(project.full_path) })).body.public_key);
  await performQueued(services, [pullMirror, pushMirror]);
  assert.equal((await as('owner').get(without)).body.last_error, '1 large files could not be fetched.');
});
