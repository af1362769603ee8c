import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../support/git.ts';
import { filledWorld, headOf } from '../support/repository.ts';

test('git can clone, fetch and push at the old path of a project, also from a work tree older than the transfer', async () => {
  const here = await filledWorld();
  const client = await gitClient();
  const old = remoteOf(here.url, here.project.full_path, here.people.maintainer.token);
  assert.equal((await client.run(['clone', '-q', old, 'before'])).code, 0);
  const moved = await here.as('owner').put(`/groups/${here.group.id}`, { path: `${here.group.path}-moved` });
  assert.equal(moved.status, 200);

  const cloned = await client.run(['clone', '-q', old, 'after']);
  assert.equal(cloned.code, 0, cloned.stderr);
  await client.run(['commit', '-q', '--allow-empty', '-m', 'After the move'], { at: 'before' });
  const pushed = await client.run(['push', '-q', 'origin', 'HEAD:main'], { at: 'before' });
  assert.equal(pushed.code, 0, pushed.stderr);
  const { stdout } = await client.run(['rev-parse', 'HEAD'], { at: 'before' });
  assert.equal(await headOf(here), stdout.trim());
  assert.equal((await client.run(['pull', '-q'], { at: 'after' })).code, 0);

  const stranger = await client.run([
    'ls-remote',
    remoteOf(here.url, here.project.full_path, here.people.outsider.token),
  ]);
  assert.match(stranger.stderr, /not found|could not be found/);
  const anonymous = await fetch(`${here.url}/${here.project.full_path}.git/info/refs?service=git-upload-pack`, {
    redirect: 'manual',
  });
  assert.equal(anonymous.status, 401);
});
