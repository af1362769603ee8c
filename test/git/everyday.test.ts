/** A working day with git against the server. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { type World, world } from '../support/world.ts';
import { begin, clone, refusedClone, remoteFor } from './work_tree.ts';

const environment = await ownAddress();

/** A world whose project has a file on `main`. */
async function filled(): Promise<World> {
  const here = await world({ environment });
  const first = await begin(remoteFor(here, 'maintainer'), 'main');
  await first.commit('README.md', 'one\n');
  await first.git('push', '-q', 'origin', 'main');
  return here;
}

const branchesIn = async ({ as, project }: World): Promise<Record<string, string>> => {
  const { body } = await as('reporter').get(`/projects/${project.id}/repository/branches`);
  return Object.fromEntries(
    body.map(({ name, commit }: { name: string; commit: { id: string } }) => [name, commit.id]),
  );
};

test('a first push to master makes it the default branch', async () => {
  const here = await world({ environment });
  const { as, project } = here;
  const url = `/projects/${project.id}`;
  const empty = await clone(remoteFor(here, 'reporter'));
  assert.equal(await empty.git('branch', '--all'), '');

  const first = await begin(remoteFor(here, 'owner'), 'master');
  const head = await first.commit('README.md', 'one\n');
  await first.git('push', '-q', '--set-upstream', 'origin', 'master');
  const { body } = await as('maintainer').get(url);
  assert.deepEqual([body.default_branch, body.empty_repo], ['master', false]);
  assert.deepEqual(await branchesIn(here), { master: head });
  const again = await clone(remoteFor(here, 'reporter'));
  assert.equal(await again.git('rev-parse', '--abbrev-ref', 'HEAD'), 'master');
});

test('the clone URL from the API works, with the token in it or from a credential helper', async () => {
  const here = await filled();
  const { as, project, people } = here;
  const { http_url_to_repo } = (await as('maintainer').get(`/projects/${project.id}`)).body;
  const helper = `!f() { echo username=anybody; echo password=${people.maintainer.token}; }; f`;
  const asked = await clone(http_url_to_repo, '-c', `credential.helper=${helper}`);
  const head = await asked.commit('a', 'a');
  await asked.git('push', '-q');
  assert.equal((await branchesIn(here)).main, head);

  for (const user of ['oauth2', people.reporter.username, 'git']) {
    const address = new URL(http_url_to_repo);
    Object.assign(address, { username: user, password: people.reporter.token });
    assert.equal(await (await clone(address.href)).git('rev-parse', 'HEAD'), head);
  }
});

test('without a token a public project can be cloned, and a private one cannot', async () => {
  const here = await filled();
  const { as, project, group, url } = here;
  const remote = `${url}/${project.full_path}.git`;
  assert.match(await refusedClone(remote), /could not read Username/);
  assert.equal((await as('owner').put(`/groups/${group.id}`, { visibility: 'public' })).status, 200);
  assert.equal((await as('owner').put(`/projects/${project.id}`, { visibility: 'public' })).status, 200);
  const work = await clone(remote);
  assert.equal(await readFile(path.join(work.folder, 'README.md'), 'utf8'), 'one\n');
  await work.commit('a', 'a');
  assert.match(await work.refused('push', 'origin', 'main'), /could not read Username/);
});

test('pushed branches, tags and deletions can be fetched by another user', async () => {
  const here = await filled();
  const [one, other] = [await clone(remoteFor(here, 'owner')), await clone(remoteFor(here, 'maintainer'))];
  await one.git('switch', '-q', '-c', 'topic/ünïcode');
  const topic = await one.commit('topic.txt', 'topic\n');
  await one.git('tag', 'light');
  await one.git('tag', '-a', '-m', 'A heavy one', 'heavy/1.0');
  await one.git('push', '-q', 'origin', 'topic/ünïcode', 'light', 'heavy/1.0');

  await other.git('fetch', '-q', '--tags');
  assert.equal(
    await other.git('rev-parse', 'origin/topic/ünïcode', 'light', 'heavy/1.0^{commit}'),
    `${topic}\n${topic}\n${topic}`,
  );
  assert.equal(await other.git('cat-file', '-t', 'heavy/1.0'), 'tag');

  await one.git('push', '-q', 'origin', '--delete', 'topic/ünïcode', 'heavy/1.0');
  assert.deepEqual(Object.keys(await branchesIn(here)), ['main']);
  await other.git('fetch', '-q', '--prune', '--prune-tags', 'origin');
  assert.equal(await other.git('tag'), 'light');
  assert.doesNotMatch(await other.git('branch', '--remotes'), /topic/);
});

test('a rewritten history needs a force push, and --force-with-lease protects it from being overwritten', async () => {
  const here = await filled();
  const protection = `/projects/${here.project.id}/protected_branches/main`;
  assert.equal((await here.as('maintainer').patch(protection, { allow_force_push: true })).status, 200);
  const [one, other] = [await clone(remoteFor(here, 'owner')), await clone(remoteFor(here, 'maintainer'))];
  for (const work of [one, other]) await work.git('checkout', '-q', '-b', 'draft');
  await one.commit('a', 'first try');
  await one.git('push', '-q', 'origin', 'draft');
  await other.git('fetch', '-q');
  await one.git('reset', '-q', '--hard', 'HEAD~1');
  const better = await one.commit('a', 'second try');
  assert.match(await one.refused('push', 'origin', 'draft'), /\[rejected\].*non-fast-forward/);
  await one.git('push', '-q', '--force-with-lease', 'origin', 'draft');
  assert.equal((await branchesIn(here)).draft, better);

  await other.commit('b', 'b');
  assert.match(await other.refused('push', '--force-with-lease', 'origin', 'draft'), /stale info|rejected/);
  assert.equal((await branchesIn(here)).draft, better);
});

test('an atomic push with one refused branch moves none', async () => {
  const here = await filled();
  const work = await clone(remoteFor(here, 'owner'));
  const before = await branchesIn(here);
  await work.commit('a', 'a');
  await work.git('branch', 'other');
  const said = await work.refused('push', '--atomic', 'origin', 'other', ':main');
  assert.match(said, /remote: GitLab: The default branch of a project cannot be deleted\./);
  assert.deepEqual(await branchesIn(here), before);
});

test('a shallow clone can be deepened and pushed from, and a partial clone fetches files on demand', async () => {
  const here = await filled();
  const full = await clone(remoteFor(here, 'owner'));
  for (const count of [1, 2, 3]) await full.commit('a', `${count}\n`);
  await full.git('push', '-q', 'origin', 'main');

  const shallow = await clone(remoteFor(here, 'owner'), '--depth=1');
  assert.equal(await shallow.git('rev-list', '--count', 'HEAD'), '1');
  const head = await shallow.commit('b', 'from the surface\n');
  await shallow.git('push', '-q', 'origin', 'main');
  assert.equal((await branchesIn(here)).main, head);
  await shallow.git('fetch', '-q', '--deepen=1');
  assert.equal(await shallow.git('rev-list', '--count', 'HEAD'), '3');
  await shallow.git('fetch', '-q', '--unshallow');
  assert.equal(await shallow.git('rev-list', '--count', 'HEAD'), '5');

  const partial = await clone(remoteFor(here, 'reporter'), '--filter=blob:none', '--no-checkout');
  const missing = async () =>
    (await partial.git('rev-list', '--objects', '--all', '--missing=print')).match(/^\?/gm)?.length ?? 0;
  const before = await missing();
  assert.ok(before > 0);
  assert.equal(await partial.git('show', 'HEAD~1:a'), '3');
  assert.equal(await missing(), before - 1);
});

test('notes and other refs are pushed by developers, and have no followers', async () => {
  const here = await filled();
  const path = `/projects/${here.project.id}`;
  const rule = { commit_message_regex: '^Ticket' };
  assert.equal((await here.as('maintainer').post(`${path}/push_rule`, rule)).status, 201);
  const before = (await here.as('owner').get(`${path}/events`)).body.length;
  const [work, reader] = [await clone(remoteFor(here, 'developer')), await clone(remoteFor(here, 'reporter'))];
  for (const turn of ['one', 'two']) {
    await work.git('notes', 'add', '-f', '-m', turn);
    await work.git('push', '-q', 'origin', 'refs/notes/commits', 'HEAD:refs/custom/x');
    await reader.git('fetch', '-q', '-f', 'origin', 'refs/notes/commits:refs/notes/commits');
    assert.equal(await reader.git('notes', 'show', 'origin/main'), turn);
  }
  assert.match(await reader.refused('push', 'origin', 'HEAD:refs/custom/y'), /not allowed to push code|403/);
  for (const ref of ['keep-around/x', 'merge-requests/9/head', 'environments/a', 'pipelines/1', 'tmp/x', 'coppice/x'])
    assert.match(
      await work.refused('push', 'origin', `HEAD:refs/${ref}`),
      /cannot be pushed|deny updating a hidden ref/,
      ref,
    );
  await work.git('push', '-q', 'origin', ':refs/custom/x');
  assert.equal((await here.as('owner').get(`${path}/events`)).body.length, before);
  assert.deepEqual(Object.keys(await branchesIn(here)), ['main']);
});
