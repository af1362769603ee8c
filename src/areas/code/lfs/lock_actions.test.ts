import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { ask } from '../../../../test/support/lfs.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const at = 'info/lfs/locks';
const lock = (here: World, who: Persona, path: unknown) => ask(here, who, at, { json: { path } });
const unlock = (here: World, who: Persona, id: string, force = false) =>
  ask(here, who, `${at}/${id}/unlock`, { json: { force } });
const list = (here: World, who: Persona | 'anonymous', query = '') => ask(here, who, `${at}${query}`);
const paths = (locks: { path: string }[]) => locks.map(({ path }) => path);

test('a path is locked, the lock is visible to all members, and its owner unlocks it', async () => {
  const here = await world();
  const locked = await lock(here, 'developer', 'films/a b.mov');
  assert.equal(locked.status, 201);
  assert.equal(locked.headers.get('content-type'), 'application/vnd.git-lfs+json');
  const { id, locked_at } = locked.body.lock;
  const developer = here.people.developer.username.replaceAll('-', ' ');
  assert.deepEqual(locked.body, { lock: { id, path: 'films/a b.mov', locked_at, owner: { name: developer } } });
  assert.equal(typeof id, 'string');

  const again = await lock(here, 'maintainer', 'films/a b.mov');
  assert.equal(again.status, 409);
  assert.equal(again.body.message, 'already locked');
  assert.deepEqual(again.body.lock, locked.body.lock);

  await lock(here, 'maintainer', 'b');
  assert.deepEqual(paths((await list(here, 'reporter')).body.locks), ['films/a b.mov', 'b']);
  assert.deepEqual(paths((await list(here, 'reporter', '?path=b')).body.locks), ['b']);
  assert.deepEqual(paths((await list(here, 'reporter', `?id=${id}`)).body.locks), ['films/a b.mov']);
  assert.deepEqual((await list(here, 'reporter', '?id=x')).body.locks, []);

  const { body } = await ask(here, 'developer', `${at}/verify`, { json: {} });
  assert.deepEqual([paths(body.ours), paths(body.theirs)], [['films/a b.mov'], ['b']]);

  assert.deepEqual((await unlock(here, 'developer', id)).body, locked.body);
  assert.equal((await unlock(here, 'developer', id)).status, 404);
  assert.deepEqual(paths((await list(here, 'reporter')).body.locks), ['b']);
});

test("maintainers can force the removal of another user's lock", async () => {
  const here = await world();
  const { id } = (await lock(here, 'owner', 'a')).body.lock;
  for (const [persona, force] of [
    ['developer', false],
    ['developer', true],
    ['maintainer', false],
  ] as const)
    assert.equal((await unlock(here, persona, id, force)).status, 403);
  assert.equal((await list(here, 'reporter')).body.locks.length, 1);
  assert.equal((await unlock(here, 'maintainer', id, true)).status, 200);
  assert.equal((await list(here, 'reporter')).body.locks.length, 0);
});

test('locks are paged', async () => {
  const here = await world();
  for (const path of ['a', 'b', 'c']) await lock(here, 'developer', path);
  const first = (await list(here, 'reporter', '?limit=2')).body;
  assert.deepEqual(paths(first.locks), ['a', 'b']);
  const second = (await list(here, 'reporter', `?limit=2&cursor=${first.next_cursor}`)).body;
  assert.deepEqual(paths(second.locks), ['c']);
  assert.equal(second.next_cursor, undefined);
  const verified = await ask(here, 'owner', `${at}/verify`, { json: { limit: 2, cursor: first.next_cursor } });
  assert.deepEqual(paths(verified.body.theirs), ['c']);
});

test('a user who may not push cannot lock, and a lock of another project is not found', async () => {
  const here = await world();
  const there = await world();
  const { id } = (await lock(here, 'developer', 'a')).body.lock;
  assert.equal((await unlock(there, 'owner', id, true)).status, 404);
  assert.equal((await lock(there, 'developer', 'a')).status, 201);
  assert.equal((await lock(here, 'reporter', 'b')).status, 403);
  assert.equal((await unlock(here, 'reporter', id)).status, 403);
  assert.equal((await lock(here, 'outsider', 'b')).status, 404);
  assert.equal((await list(here, 'anonymous')).status, 401);
  for (const path of [undefined, '', 1, 'x\0y', 'x'.repeat(2001)])
    assert.equal((await lock(here, 'developer', path)).status, 422);
  assert.deepEqual(paths((await list(here, 'reporter')).body.locks), ['a']);
});

test('a locked file cannot be changed by other users, through git or the API', async () => {
  const here = await world();
  const { project, people } = here;
  const files = `/projects/${project.id}/repository/files`;
  const written = { branch: 'main', commit_message: 'Change', content: 'frames' };
  await here.as('maintainer').post(`${files}/a.mov`, written);
  await here.as('maintainer').post(`${files}/b.mov`, written);
  const { id } = (await lock(here, 'developer', 'a.mov')).body.lock;

  const holder = people.developer.username.replaceAll('-', ' ');
  const refused = await here.as('maintainer').put(`${files}/a.mov`, { ...written, content: 'other' });
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: `The path 'a.mov' is locked in Git LFS by ${holder}` }],
  );
  assert.equal((await here.as('maintainer').put(`${files}/b.mov`, { ...written, content: 'other' })).status, 200);

  const { folder, run } = await gitClient();
  await run(['clone', remoteOf(here.url, project.full_path, people.maintainer.token), 'work']);
  await writeFile(path.join(folder, 'work', 'a.mov'), 'pushed');
  await run(['commit', '-am', 'Change what is locked'], { at: 'work' });
  const push = () => run(['push', 'origin', 'HEAD:refs/heads/side'], { at: 'work' });
  assert.match((await push()).stderr, new RegExp(`The path 'a.mov' is locked in Git LFS by ${holder}`));
  await unlock(here, 'developer', id);
  const { id: folder_lock } = (await lock(here, 'developer', 'films')).body.lock;
  const within = await here.as('maintainer').post(`${files}/films%2Fc.mov`, written);
  assert.equal(within.body.message, `The path 'films' is locked in Git LFS by ${holder}`);
  await unlock(here, 'developer', folder_lock);
  assert.equal((await push()).code, 0);
});
