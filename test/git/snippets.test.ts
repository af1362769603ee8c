/** git with snippets, over HTTP and SSH: the access of the API, one branch, few files, and a row that follows every push. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { remoteOf } from '../support/git.ts';
import { sshFor, withKey } from '../support/ssh.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { clone, refusedClone, type WorkTree } from './work_tree.ts';

const files = [
  { file_path: 'b.txt', content: 'bees\n' },
  { file_path: 'a.txt', content: 'apples\n' },
];

/** A world with a snippet of the reporter, in the project. */
async function filled(given: object = {}) {
  const here = await world();
  const url = `/projects/${here.project.id}/snippets`;
  const { status, body: snippet } = await here.as('reporter').post(url, { title: 'Fruit', files, ...given });
  assert.equal(status, 201);
  return { here, snippet, url: `${url}/${snippet.id}`, path: `${here.project.full_path}/snippets/${snippet.id}` };
}

const remoteFor = ({ url, people }: World, at: string, persona?: Persona) =>
  remoteOf(url, at, persona && people[persona].token);

/** Its group is private, so the API would refuse. */
const publish = ({ db, project }: World) =>
  db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();

const textIn = (work: WorkTree, file: string) => readFile(path.join(work.folder, file), 'utf8');

test('the author clones a snippet and pushes, and what the API shows follows', async () => {
  const { here, url, path: at, snippet } = await filled();
  const work = await clone(remoteFor(here, at, 'reporter'));
  assert.equal(await work.git('log', '--format=%s'), 'Initial commit');
  assert.equal(await textIn(work, 'a.txt'), 'apples\n');
  await work.git('mv', 'a.txt', 'first.md');
  await work.commit('a/new.txt', 'new\n');
  await work.git('push', '-q', 'origin', 'main');
  const { body: now } = await here.as('guest').get(url);
  assert.deepEqual(
    now.files.map(({ path: file }: { path: string }) => file),
    ['a/new.txt', 'b.txt', 'first.md'],
  );
  assert.equal(now.file_name, 'a/new.txt');
  assert.ok(now.updated_at > snippet.updated_at);
  assert.equal((await here.as('guest').get(`${url}/raw`)).body, 'new\n');

  const change = { title: 'Trees', files: [{ action: 'update', file_path: 'b.txt', content: 'birches\n' }] };
  assert.equal((await here.as('maintainer').put(url, change)).status, 200);
  await work.git('pull', '-q', '--ff-only');
  assert.equal(await textIn(work, 'b.txt'), 'birches\n');
  assert.equal(
    await work.git('log', '-1', '--format=%s %an'),
    `Update snippet ${here.people.maintainer.username.replaceAll('-', ' ')}`,
  );
  assert.deepEqual(await here.db.selectFrom('reference_updates').selectAll().execute(), []);
});

test('what a snippet cannot be is refused to a push, and nothing changes', async () => {
  const { here, url, path: at } = await filled();
  const work = await clone(remoteFor(here, at, 'reporter'));
  const head = await work.git('rev-parse', 'HEAD');
  const before = (await here.as('guest').get(url)).body;
  const fixed = /GitLab: You can not create or delete branches\./;
  assert.match(await work.refused('push', 'origin', 'main:other'), fixed);
  assert.match(await work.refused('push', 'origin', ':main'), fixed);
  await work.git('tag', 'v1');
  assert.match(await work.refused('push', 'origin', 'v1'), fixed);
  const refusedAfter = async (make: () => Promise<unknown>, text: RegExp) => {
    await make();
    assert.match(await work.refused('push', '-f', 'origin', 'main'), text);
    await work.git('reset', '-q', '--hard', head);
  };
  await refusedAfter(async () => {
    for (let number = 0; number < 9; number++) await work.commit(`${number}.txt`, 'x');
  }, /GitLab: The repository can contain at most 10 file\(s\)\./);
  await refusedAfter(async () => {
    await work.git('rm', '-q', 'a.txt', 'b.txt');
    await work.git('commit', '-q', '-m', 'Nothing');
  }, /GitLab: The repository must contain at least 1 file\./);
  await refusedAfter(() => work.commit(`${'n'.repeat(200)}/${'n'.repeat(200)}`, 'x'), /GitLab: File name is too long/);
  await here.as('admin').put('/application/settings', { snippet_size_limit: 100_000 });
  try {
    await refusedAfter(
      () => work.commit('large.txt', Buffer.alloc(100_001)),
      /GitLab: Content is too long \(97\.7 KB\)\. The maximum size is 97\.7 KB\./,
    );
  } finally {
    await here.as('admin').put('/application/settings', { snippet_size_limit: 52_428_800 });
  }
  assert.deepEqual((await here.as('guest').get(url)).body, before);
  assert.equal(await (await clone(remoteFor(here, at, 'guest'))).git('rev-parse', 'HEAD'), head);
  assert.deepEqual(await here.db.selectFrom('reference_updates').selectAll().execute(), []);
});

test('git has the access that the API gives', async () => {
  const { here, path: at, url, snippet } = await filled();
  const missing = /The snippet you were looking for could not be found\./;
  const work = await clone(remoteFor(here, at, 'guest'));
  await work.commit('c.txt', 'c');
  assert.match(await work.refused('push', 'origin', 'main'), /You are not allowed to update this snippet\.|403/);
  assert.match(await refusedClone(remoteFor(here, at, 'outsider')), missing);
  assert.match(await refusedClone(remoteFor(here, at)), /could not read Username|Authentication failed/);
  assert.match(await refusedClone(remoteFor(here, `snippets/${snippet.id}`, 'guest')), missing);
  assert.match(await refusedClone(remoteFor(here, `${here.project.full_path}/snippets/987654`, 'guest')), missing);

  await publish(here);
  await here.as('owner').put(`/projects/${here.project.id}`, { path: `${here.project.path}-moved` });
  await here.as('reporter').put(url, { visibility: 'public' });
  const moved = `${here.project.full_path}-moved/snippets/${snippet.id}`;
  await clone(remoteFor(here, moved));
  await clone(remoteFor(here, at), '-c', 'http.followRedirects=true');
  const maintainer = await clone(remoteFor(here, moved, 'maintainer'));
  await maintainer.commit('c.txt', 'c');
  await maintainer.git('push', '-q', 'origin', 'main');
  await here.as('owner').post(`/projects/${here.project.id}/archive`);
  await maintainer.commit('d.txt', 'd');
  assert.match(await maintainer.refused('push', 'origin', 'main'), /archived project|403/);
  assert.equal((await here.as('guest').get(url)).body.files.length, 3);
  await here.as('owner').post(`/projects/${here.project.id}/unarchive`);
  await here.as('owner').put(`/projects/${here.project.id}`, { snippets_access_level: 'disabled' });
  assert.match(await refusedClone(remoteFor(here, moved, 'maintainer')), missing);
});

test('snippets are cloned and pushed over SSH', async () => {
  const { here, path: at, url } = await filled();
  const ssh = await sshFor(here);
  const { file } = await ssh.keyOf('reporter');
  const work = await clone(ssh.remote(at), ...withKey(file, ssh.hostKey));
  await work.commit('0.txt', 'zero\n');
  await work.git('push', '-q', 'origin', 'main');
  assert.equal((await here.as('guest').get(`${url}/raw`)).body, 'zero\n');
  assert.match(await work.refused('push', 'origin', 'main:other'), /You can not create or delete branches\./);
  const guest = await ssh.keyOf('guest');
  const read = await clone(ssh.remote(at), ...withKey(guest.file, ssh.hostKey));
  await read.commit('1.txt', 'one\n');
  assert.match(await read.refused('push', 'origin', 'main'), /ERROR: You are not allowed to update this snippet\./);
  const outsider = await ssh.keyOf('outsider');
  assert.match(
    await refusedClone(ssh.remote(at), ...withKey(outsider.file, ssh.hostKey)),
    /ERROR: The snippet you were looking for could not be found\./,
  );

  const personal = (await here.as('reporter').post('/snippets', { title: 'Mine', visibility: 'private', files })).body;
  const mine = await clone(ssh.remote(`snippets/${personal.id}`), ...withKey(file, ssh.hostKey));
  await mine.commit('0.txt', 'mine\n');
  await mine.git('push', '-q', 'origin', 'main');
  assert.equal((await here.as('reporter').get(`/snippets/${personal.id}/raw`)).body, 'mine\n');
  assert.match(
    await refusedClone(ssh.remote(`snippets/${personal.id}`), ...withKey(guest.file, ssh.hostKey)),
    /ERROR: The snippet you were looking for could not be found\./,
  );
});

test('deploy tokens reach no snippet', async () => {
  const { here, path: at } = await filled();
  const given = { name: 'build', scopes: ['read_repository'] };
  const { body } = await here.as('maintainer').post(`/projects/${here.project.id}/deploy_tokens`, given);
  const remote = new URL(remoteFor(here, at));
  Object.assign(remote, { username: body.username, password: body.token });
  assert.match(await refusedClone(remote.href), /The authentication mechanism is not supported\./);
});
