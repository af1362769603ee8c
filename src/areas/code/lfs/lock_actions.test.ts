import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { ask } from '../../../../test/support/lfs.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const at = 'info/lfs/locks';
const lock = (place: World, who: Persona, path: unknown) => ask(place, who, at, { json: { path } });
const unlock = (place: World, who: Persona, id: string, force = false) =>
  ask(place, who, `${at}/${id}/unlock`, { json: { force } });
const list = (place: World, who: Persona | 'anonymous', query = '') => ask(place, who, `${at}${query}`);
const paths = (locks: { path: string }[]) => locks.map(({ path }) => path);

test('a path is locked, the lock is visible to all members, and its owner unlocks it', async () => {
  const place = await world();
  const locked = await lock(place, 'developer', 'films/a b.mov');
  assert.equal(locked.status, 201);
  assert.equal(locked.headers.get('content-type'), 'application/vnd.git-lfs+json');
  const { id, locked_at } = locked.body.lock;
  const developer = place.people.developer.username.replaceAll('-', ' ');
  assert.deepEqual(locked.body, { lock: { id, path: 'films/a b.mov', locked_at, owner: { name: developer } } });
  assert.equal(typeof id, 'string');

  const again = await lock(place, 'maintainer', 'films/a b.mov');
  assert.equal(again.status, 409);
  assert.equal(again.body.message, 'already locked');
  assert.deepEqual(again.body.lock, locked.body.lock);

  await lock(place, 'maintainer', 'b');
  assert.deepEqual(paths((await list(place, 'reporter')).body.locks), ['films/a b.mov', 'b']);
  assert.deepEqual(paths((await list(place, 'reporter', '?path=b')).body.locks), ['b']);
  assert.deepEqual(paths((await list(place, 'reporter', `?id=${id}`)).body.locks), ['films/a b.mov']);
  assert.deepEqual((await list(place, 'reporter', '?id=x')).body.locks, []);

  const { body } = await ask(place, 'developer', `${at}/verify`, { json: {} });
  assert.deepEqual([paths(body.ours), paths(body.theirs)], [['films/a b.mov'], ['b']]);

  assert.deepEqual((await unlock(place, 'developer', id)).body, locked.body);
  assert.equal((await unlock(place, 'developer', id)).status, 404);
  assert.deepEqual(paths((await list(place, 'reporter')).body.locks), ['b']);
});

test("maintainers can force the removal of another user's lock", async () => {
  const place = await world();
  const { id } = (await lock(place, 'owner', 'a')).body.lock;
  for (const [persona, force] of [
    ['developer', false],
    ['developer', true],
    ['maintainer', false],
  ] as const)
    assert.equal((await unlock(place, persona, id, force)).status, 403);
  assert.equal((await list(place, 'reporter')).body.locks.length, 1);
  assert.equal((await unlock(place, 'maintainer', id, true)).status, 200);
  assert.equal((await list(place, 'reporter')).body.locks.length, 0);
});

test('locks are paged', async () => {
  const place = await world();
  for (const path of ['a', 'b', 'c']) await lock(place, 'developer', path);
  const first = (await list(place, 'reporter', '?limit=2')).body;
  assert.deepEqual(paths(first.locks), ['a', 'b']);
  const second = (await list(place, 'reporter', `?limit=2&cursor=${first.next_cursor}`)).body;
  assert.deepEqual(paths(second.locks), ['c']);
  assert.equal(second.next_cursor, undefined);
  const verified = await ask(place, 'owner', `${at}/verify`, { json: { limit: 2, cursor: first.next_cursor } });
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
  const place = await world();
  const { project, people } = place;
  const files = `/projects/${project.id}/repository/files`;
  const written = { branch: 'main', commit_message: 'Change', content: 'frames' };
  await place.as('maintainer').post(`${files}/a.mov`, written);
  await place.as('maintainer').post(`${files}/b.mov`, written);
  const { id } = (await lock(place, 'developer', 'a.mov')).body.lock;

  const holder = people.developer.username.replaceAll('-', ' ');
  const refused = await place.as('maintainer').put(`${files}/a.mov`, { ...written, content: 'other' });
  assert.deepEqual([refused.status, refused.body], [400, { message: `The path 'a.mov' is locked in Git LFS by ${holder}` }]);
  assert.equal((await place.as('maintainer').put(`${files}/b.mov`, { ...written, content: 'other' })).status, 200);

  const { folder, run } = await gitClient();
  await run(['clone', remoteOf(place.url, project.full_path, people.maintainer.token), 'work']);
  await writeFile(path.join(folder, 'work', 'a.mov'), 'pushed');
  await run(['commit', '-am', 'Change what is locked'], { at: 'work' });
  const push = () => run(['push', 'origin', 'HEAD:refs/heads/side'], { at: 'work' });
  assert.match((await push()).stderr, new RegExp(`The path 'a.mov' is locked in Git LFS by ${holder}`));
  await unlock(place, 'developer', id);
  const { id: folder_lock } = (await lock(place, 'developer', 'films')).body.lock;
  const within = await place.as('maintainer').post(`${files}/films%2Fc.mov`, written);
  assert.equal(within.body.message, `The path 'films' is locked in Git LFS by ${holder}`);
  await unlock(place, 'developer', folder_lock);
  assert.equal((await push()).code, 0);
});
