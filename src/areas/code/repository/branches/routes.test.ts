import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pagesFrom } from '../../../../../test/support/client.ts';
import { headOf, repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { resolveBranch, updateRefs, writeCommit } from '../../../../git/index.ts';
import { moveRefs } from '../moving/actions.ts';
import { projectRepositories } from '../owners/project_kind.ts';

const moverIn = ({ project, people }: World) => ({
  kind: projectRepositories,
  owner: { id: project.id, storage: 'default', default_branch: 'main' },
  user_id: people.owner.id,
});
const branchesUrl = ({ project }: World) => `/projects/${project.id}/repository/branches`;
const names = (body: { name: string }[]) => body.map(({ name }) => name);

/** Adds a commit to a branch, which begins with it unless it exists; returns its id. */
async function commitTo(
  here: World,
  branch: string,
  { seconds, from }: { seconds: number; from?: string },
): Promise<string> {
  const repository = repositoryIn(here);
  const old = (await resolveBranch(repository, branch)) ?? null;
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date(seconds * 1000) };
  const { id } = await writeCommit(repository, {
    parent: old ?? from ?? null,
    message: `On ${branch}`,
    author: person,
    committer: person,
    changes: [{ op: 'put', path: `${branch}-${seconds}`, mode: '100644', content: Buffer.from('x') }],
  });
  await moveRefs(here.services, moverIn(here), [{ ref: `refs/heads/${branch}`, old, new: id }]);
  return id;
}

/** A world whose default branch has one commit. */
async function filled(): Promise<World> {
  const here = await world();
  await commitTo(here, 'main', { seconds: 1000 });
  return here;
}

test('a branch is created, shown, listed and deleted', async () => {
  const here = await filled();
  const { as, project, services } = here;
  const url = branchesUrl(here);
  const created = await as('developer').post(url, { branch: 'fix/a-b', ref: 'main' });
  assert.equal(created.status, 201);
  const { commit, ...branch } = created.body;
  assert.deepEqual(branch, {
    name: 'fix/a-b',
    merged: false,
    protected: false,
    developers_can_push: false,
    developers_can_merge: false,
    can_push: true,
    default: false,
    web_url: `${services.url}/${project.full_path}/-/tree/fix/a-b`,
  });
  assert.equal(commit.id, await headOf(here, 'main'));
  assert.equal(commit.web_url, `${services.url}/${project.full_path}/-/commit/${commit.id}`);

  const one = `${url}/${encodeURIComponent('fix/a-b')}`;
  assert.deepEqual((await as('reporter').get(one)).body, { ...created.body, can_push: false });
  assert.equal((await as('reporter').head(one)).status, 204);
  const listed = await as('reporter').get(url);
  assert.deepEqual(names(listed.body), ['fix/a-b', 'main']);
  assert.equal(listed.headers.get('x-total'), '2');
  assert.equal(listed.body[1].default, true);

  assert.equal((await as('developer').delete(one)).status, 204);
  const gone = await as('reporter').get(one);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Branch Not Found' }]);
  assert.equal((await as('reporter').head(one)).status, 404);
  assert.equal((await as('developer').delete(one)).status, 404);
});

test('special characters in a name are escaped in its URL', async () => {
  const here = await filled();
  const { as, project, services } = here;
  const { status, body } = await as('developer').post(branchesUrl(here), { branch: 'fix#1/50%&ä', ref: 'main' });
  assert.deepEqual(
    [status, body.name, body.web_url],
    [201, 'fix#1/50%&ä', `${services.url}/${project.full_path}/-/tree/fix%231/50%25%26%C3%A4`],
  );
});

test('branches are searched by name, and by regular expressions within a limit of time', async () => {
  const here = await filled();
  const { as } = here;
  for (const name of ['Feature-one', 'two-feature', 'my-feature-x']) await commitTo(here, name, { seconds: 2000 });
  const found = async (parameters: Record<string, string>) =>
    names((await as('reporter').get(branchesUrl(here), parameters)).body);
  assert.deepEqual(await found({ search: 'feature' }), ['Feature-one', 'my-feature-x', 'two-feature']);
  assert.deepEqual(await found({ search: '^feature' }), ['Feature-one']);
  assert.deepEqual(await found({ search: 'feature$' }), ['two-feature']);
  assert.deepEqual(await found({ search: '^main$' }), ['main']);
  assert.deepEqual(await found({ search: '.*' }), []);
  assert.deepEqual(await found({ regex: '^(two|my)-' }), ['my-feature-x', 'two-feature']);
  assert.deepEqual(await found({ regex: '(a+)+$' }), []);
  const url = branchesUrl(here);
  const both = await as('reporter').get(url, { search: 'a', regex: 'a' });
  assert.deepEqual([both.status, both.body.message], [400, 'search, regex are mutually exclusive']);
  for (const regex of ['(', '(?=x)', '\\1', '.{1000}'.repeat(50)]) {
    const refused = await as('reporter').get(url, { regex });
    assert.deepEqual([refused.status, refused.body.message], [400, 'regex is invalid'], regex);
  }
  // An empty repository reads the expression, too.
  const empty = await world();
  assert.equal((await empty.as('reporter').get(branchesUrl(empty), { regex: '(' })).status, 400);
  assert.deepEqual((await empty.as('reporter').get(branchesUrl(empty), { regex: 'a' })).body, []);
});

test('branches are ordered by name or last commit, and paged by number or token', async () => {
  const here = await filled();
  const { as } = here;
  const url = branchesUrl(here);
  for (const [name, seconds] of [
    ['a', 5000],
    ['b', 3000],
    ['c', 4000],
  ] as const)
    await commitTo(here, name, { seconds });
  const listed = async (parameters: Record<string, string | number>) =>
    names((await as('reporter').get(url, parameters)).body);
  assert.deepEqual(await listed({ sort: 'updated_desc' }), ['a', 'c', 'b', 'main']);
  assert.deepEqual(await listed({ sort: 'updated_asc' }), ['main', 'b', 'c', 'a']);
  assert.deepEqual(await listed({ per_page: 2, page: 2 }), ['c', 'main']);

  const seen: string[] = [];
  for await (const page of pagesFrom(as('reporter'), `${url}?pagination=keyset&per_page=3&sort=updated_desc`)) {
    seen.push(...names(page.body));
    assert.equal(page.headers.get('x-page'), null);
  }
  assert.deepEqual(seen, ['a', 'c', 'b', 'main']);
  assert.deepEqual(await listed({ pagination: 'keyset', page_token: 'bb' }), ['c', 'main']);
  for (const [parameters, message] of [
    [{ per_page: -1 }, 'per_page does not have a valid value'],
    [{ page: 0 }, 'page does not have a valid value'],
    [{ sort: 'size' }, 'sort does not have a valid value'],
    [{ pagination: 'keyset', sort: 'updated_asc', page_token: 'absent' }, 'page_token is invalid'],
  ] as const) {
    const refused = await as('reporter').get(url, parameters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
});

test('a refused branch says why, and is not created', async () => {
  const here = await filled();
  const { as } = here;
  const url = branchesUrl(here);
  const refusals: [object, string][] = [
    [{}, 'branch is missing, branch is empty, ref is missing, ref is empty'],
    [{ branch: '', ref: 'main' }, 'branch is empty'],
    [{ branch: 'main', ref: 'main' }, 'Branch already exists'],
    [{ branch: 'no..name', ref: 'main' }, 'Branch name is invalid'],
    [{ branch: '-option', ref: 'main' }, 'Branch name is invalid'],
    [{ branch: 'HEAD', ref: 'main' }, 'Branch name is invalid'],
    [
      { branch: 'main/below', ref: 'main' },
      "Failed to create branch 'main/below': Branch name conflicts with existing branch hierarchy.",
    ],
    [{ branch: 'x', ref: 'absent' }, "Failed to create branch 'x': invalid reference name 'absent'"],
    [{ branch: 'x', ref: 'main~1' }, "Failed to create branch 'x': invalid reference name 'main~1'"],
    [
      { branch: 'ab'.repeat(20), ref: 'main' },
      'You cannot create a branch with a 40-character hexadecimal branch name.',
    ],
  ];
  for (const [parameters, message] of refusals) {
    const refused = await as('developer').post(url, { ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual(names((await as('reporter').get(url)).body), ['main']);
});

test('the first branch of an empty repository starts with a README', async () => {
  const here = await world();
  const { as, project } = here;
  const url = branchesUrl(here);
  assert.deepEqual((await as('reporter').get(url)).body, []);
  for (const parameters of [
    { branch: 'x', ref: 'absent' },
    { branch: 'main/x', ref: 'main' },
    { branch: 'ab'.repeat(20), ref: 'main' },
  ]) {
    assert.equal((await as('developer').post(url, parameters)).status, 400);
    assert.deepEqual((await as('reporter').get(url)).body, []);
  }
  const created = await as('maintainer').post(url, { branch: 'work', ref: 'main' });
  assert.equal(created.status, 201);
  assert.equal(created.body.commit.message, 'Add README.md');
  assert.deepEqual(names((await as('reporter').get(url)).body), ['main', 'work']);
  const readme = await as('reporter').get(`/projects/${project.id}/repository/files/README.md`, { ref: 'work' });
  assert.equal(readme.body.size, 0);

  const other = await world();
  assert.equal((await other.as('maintainer').post(branchesUrl(other), { branch: 'main', ref: 'main' })).status, 201);
  assert.deepEqual(names((await other.as('reporter').get(branchesUrl(other))).body), ['main']);
});

test('merged branches are marked and deleted together; the default branch and branches at its head stay', async () => {
  const here = await filled();
  const { as } = here;
  const url = branchesUrl(here);
  const first = (await headOf(here, 'main'))!;
  await updateRefs(repositoryIn(here), [{ ref: 'refs/heads/merged', old: null, new: first }]);
  await commitTo(here, 'ahead', { seconds: 3000, from: first });
  const head = await commitTo(here, 'main', { seconds: 2000 });
  await updateRefs(repositoryIn(here), [{ ref: 'refs/heads/fresh', old: null, new: head }]);
  const listed = (await as('reporter').get(url)).body as { name: string; merged: boolean }[];
  assert.deepEqual(
    listed.map(({ name, merged }) => [name, merged]),
    [
      ['ahead', false],
      ['fresh', false],
      ['main', false],
      ['merged', true],
    ],
  );
  assert.equal((await as('reporter').get(`${url}/merged`)).body.merged, true);

  const merged = `/projects/${here.project.id}/repository/merged_branches`;
  assert.equal((await as('reporter').delete(merged)).status, 403);
  assert.equal((await as('reporter').get(url)).body.length, 4);
  const removed = await as('developer').delete(merged);
  assert.deepEqual([removed.status, removed.body], [202, { message: '202 Accepted' }]);
  assert.deepEqual(names((await as('reporter').get(url)).body), ['ahead', 'fresh', 'main']);
});

test('branches are read by reporters and changed by developers; the default branch and one that has moved are not deleted', async () => {
  const here = await filled();
  const { as } = here;
  const url = branchesUrl(here);
  await as('developer').post(url, { branch: 'x', ref: 'main' });
  for (const [persona, reading, writing] of [
    ['anonymous', 404, 401],
    ['outsider', 404, 404],
    ['guest', 403, 403],
    ['reporter', 200, 403],
  ] as const) {
    assert.equal((await as(persona).get(url)).status, reading, persona);
    assert.equal((await as(persona).post(url, { branch: 'y', ref: 'main' })).status, writing, persona);
    assert.equal((await as(persona).delete(`${url}/x`)).status, writing, persona);
  }
  const refused = await as('owner').delete(`${url}/main`);
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: 'The default branch of a project cannot be deleted.' }],
  );
  const early = { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:01 GMT' } };
  assert.equal((await as('developer').delete(`${url}/x`, {}, early)).status, 412);
  const invalid = await as('reporter').get(`${url}/${encodeURIComponent('no..name')}`);
  assert.deepEqual([invalid.status, invalid.body], [400, { message: 'The branch refname is invalid' }]);
  assert.deepEqual(names((await as('reporter').get(url)).body), ['main', 'x']);
});
