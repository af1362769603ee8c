/** What a person reads when git is refused, word for word, and that nothing moves. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { remoteOf } from '../support/git.ts';
import { type World, world } from '../support/world.ts';
import { begin, clone, refusedClone, remoteFor, type WorkTree } from './work_tree.ts';

let here: World;
let head: string;

before(async () => {
  here = await world();
  const first = await begin(remoteFor(here, 'maintainer'), 'main');
  head = await first.commit('README.md', 'one\n');
  await first.git('tag', 'v1');
  await first.git('push', '-q', 'origin', 'main', 'v1');
});

const headNow = async () =>
  (await here.as('reporter').get(`/projects/${here.project.id}/repository/branches/main`)).body.commit.id as string;

/** A clone with a commit to push. */
async function changed(persona: 'reporter' | 'developer' | 'maintainer'): Promise<WorkTree> {
  const work = await clone(remoteFor(here, persona));
  await work.commit('change.txt', 'change\n');
  return work;
}

/** Pushes what must be refused and looks that it was. */
async function refusedPush(work: WorkTree, ...refs: string[]): Promise<string> {
  const said = await work.refused('push', 'origin', ...refs);
  assert.equal(await headNow(), head);
  return said;
}

/** Another token of the developer, with these scopes. */
async function scoped(...scopes: string[]): Promise<string> {
  const { people, as } = here;
  const { body } = await as('admin').post(`/users/${people.developer.id}/personal_access_tokens`, {
    name: 'scoped',
    scopes,
  });
  return body.token;
}

test('a wrong or missing token is refused with a hint', async () => {
  const { url, project } = here;
  const said = await refusedClone(remoteOf(url, project.full_path, 'glpat-wrong'));
  assert.match(said, /remote: HTTP Basic: Access denied\. If a password was provided .* use a token/);
  assert.match(said, /fatal: Authentication failed for/);
  assert.match(await refusedClone(remoteOf(url, project.full_path)), /fatal: could not read Username/);
  assert.match(await refusedClone(remoteOf(url, 'no/such-project')), /fatal: could not read Username/);
});

test('outsiders cannot tell a private project from a missing one', async () => {
  const { url, people } = here;
  const hidden = await refusedClone(remoteFor(here, 'outsider'));
  assert.match(
    hidden,
    /remote: The project you were looking for could not be found or you don't have permission to view it\./,
  );
  const none = await refusedClone(remoteOf(url, 'no/such-project', people.outsider.token));
  assert.equal(none.match(/remote: .*/)?.[0], hidden.match(/remote: .*/)?.[0]);
});

test('guests cannot clone, and reporters can clone but not push', async () => {
  assert.match(
    await refusedClone(remoteFor(here, 'guest')),
    /remote: You are not allowed to download code from this project\./,
  );
  const said = await refusedPush(await changed('reporter'), 'main');
  assert.match(said, /remote: You are not allowed to push code to this project\./);
  assert.match(said, /The requested URL returned error: 403/);
});

test('a token with read_repository cannot push, and one with write_repository can', async () => {
  const { url, project } = here;
  const work = await changed('developer');
  const [reading, writing] = [await scoped('read_repository'), await scoped('write_repository')];
  await work.git('remote', 'set-url', 'origin', remoteOf(url, project.full_path, reading));
  await work.git('fetch', '-q');
  assert.match(await refusedPush(work, 'main'), /remote: You are not allowed to upload code\./);
  await work.git('remote', 'set-url', 'origin', remoteOf(url, project.full_path, writing));
  await work.git('push', '-q', 'origin', 'main:by-token');
  await work.git('push', '-q', 'origin', ':by-token');
  await work.git('remote', 'set-url', 'origin', remoteOf(url, project.full_path, await scoped('read_api')));
  assert.match(await work.refused('fetch'), /remote: You are not allowed to download code\./);
});

test('deleting the default branch, moving tags and names that look like commits are refused', async () => {
  const work = await changed('developer');
  assert.match(await refusedPush(work, ':main'), /remote: GitLab: The default branch of a project cannot be deleted\./);
  await work.git('tag', '-f', 'v1');
  assert.match(
    await refusedPush(work, '+v1'),
    /remote: GitLab: You are not allowed to change existing tags on this project\./,
  );
  const likeId = await refusedPush(work, `main:refs/heads/${head}`);
  assert.match(likeId, /remote: GitLab: You cannot create a branch with a 40-character hexadecimal branch name\./);
  assert.match(likeId, /\[remote rejected\].*pre-receive hook declined/);
  const foreign = await refusedPush(work, 'main:refs/merge-requests/1/head');
  assert.match(foreign, /\[remote rejected\]/);
});

test('an archived project can be cloned but not pushed to', async () => {
  const { db, project } = here;
  const work = await changed('developer');
  const archive = (archived: boolean) =>
    db.updateTable('projects').set({ archived }).where('id', '=', project.id).execute();
  await archive(true);
  try {
    assert.match(await refusedPush(work, 'main'), /remote: You can't push code to an archived project\./);
    await work.git('fetch', '-q');
  } finally {
    await archive(false);
  }
});

test('only maintainers can push to a protected branch, without rewriting or deleting it; other branches stay open', async () => {
  const work = await changed('developer');
  const only = /remote: GitLab: You are not allowed to push code to protected branches on this project\./;
  const both = await refusedPush(work, 'main', 'main:refs/heads/topic');
  assert.match(both, only);
  assert.match(both, /\[remote rejected\] main -> topic/);
  await work.git('push', '-q', 'origin', 'main:topic');
  await work.git('push', '-q', 'origin', ':topic');

  const { as, project } = here;
  const protections = `/projects/${project.id}/protected_branches`;
  assert.equal((await as('maintainer').post(protections, { name: 'release/*' })).status, 201);
  const none = /remote: GitLab: You are not allowed to create protected branches on this project\./;
  assert.match(await refusedPush(work, 'main:refs/heads/release/1'), none);

  const maintained = await changed('maintainer');
  await maintained.git('push', '-q', 'origin', 'main:refs/heads/release/1');
  await maintained.git('commit', '-q', '--amend', '-m', 'Another');
  const forced = await refusedPush(maintained, '+main:refs/heads/release/1');
  assert.match(
    forced,
    /remote: GitLab: You are not allowed to force push code to a protected branch on this project\./,
  );
  const removed = /remote: GitLab: You can only delete protected branches using the web interface\./;
  assert.match(await refusedPush(maintained, ':release/1'), removed);
  const notYours =
    /remote: GitLab: You are not allowed to delete protected branches from this project\. Only a project/;
  assert.match(await refusedPush(work, ':release/1'), notYours);

  assert.equal((await as('maintainer').patch(`${protections}/release%2F*`, { allow_force_push: true })).status, 200);
  await maintained.git('push', '-q', 'origin', '+main:refs/heads/release/1');
});
