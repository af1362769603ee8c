import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { type Change, updateRefs, writeCommit } from '../../../../git/index.ts';

const put = (path: string, text: string): Change => ({ op: 'put', path, mode: '100644', content: Buffer.from(text) });
const people = {
  ada: { name: 'Ada', email: 'ada@example.com' },
  grace: { name: 'Grace', email: 'grace@example.com' },
};

/** Two branches that part after `base`: `main` has one commit more, `side` two; `alone` shares nothing with them. */
async function parted(): Promise<World & { base: string; main: string; side: string[]; repository: string }> {
  const here = await world();
  const repository = repositoryIn(here);
  let day = 0;
  const commit = async (parent: string | null, message: string, changes: Change[], author = people.ada) => {
    const person = { ...author, date: new Date(Date.UTC(2025, 0, ++day)) };
    return (await writeCommit(repository, { parent, message, author: person, committer: person, changes })).id;
  };
  const base = await commit(null, 'Base', [put('a', '1\n')]);
  const main = await commit(base, 'Main', [put('b', 'b\n')]);
  const first = await commit(base, 'Side one', [put('a', '2\n')], people.grace);
  const second = await commit(first, 'Side two', [put('c', 'c\n')]);
  const alone = await commit(null, 'Alone', [put('z', 'z\n')]);
  const branches = { main, side: second, alone };
  await updateRefs(
    repository,
    Object.entries(branches).map(([name, id]) => ({ ref: `refs/heads/${name}`, old: null, new: id })),
  );
  return { ...here, base, main, side: [first, second], repository: `/projects/${here.project.id}/repository` };
}

test('two branches are compared from their merge base, or directly', async () => {
  const { as, repository, main, side, services, project } = await parted();
  const compared = await as('reporter').get(`${repository}/compare`, { from: 'main', to: 'side' });
  assert.equal(compared.status, 200);
  const { commit, commits, diffs, ...rest } = compared.body;
  assert.equal(commit.id, side[1]);
  assert.deepEqual(
    commits.map(({ title }: { title: string }) => title),
    ['Side one', 'Side two'],
  );
  assert.deepEqual(diffs, [
    {
      diff: '@@ -1 +1 @@\n-1\n+2\n',
      collapsed: false,
      too_large: false,
      new_path: 'a',
      old_path: 'a',
      a_mode: '100644',
      b_mode: '100644',
      new_file: false,
      renamed_file: false,
      deleted_file: false,
      generated_file: false,
    },
    {
      diff: '@@ -0,0 +1 @@\n+c\n',
      collapsed: false,
      too_large: false,
      new_path: 'c',
      old_path: 'c',
      a_mode: '0',
      b_mode: '100644',
      new_file: true,
      renamed_file: false,
      deleted_file: false,
      generated_file: false,
    },
  ]);
  assert.deepEqual(rest, {
    compare_timeout: false,
    compare_same_ref: false,
    web_url: `${services.url}/${project.full_path}/-/compare/${main}...${side[1]}`,
  });

  const straight = await as('reporter').get(`${repository}/compare`, {
    from: 'main',
    to: 'side',
    straight: true,
    unidiff: true,
  });
  assert.deepEqual(
    straight.body.diffs.map(({ diff }: { diff: string }) => diff),
    [
      '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n',
      '--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n',
      '--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+c\n',
    ],
  );
  assert.match(straight.body.web_url, /[0-9a-f]\.\.[0-9a-f]/);
});

test('a commit is compared with itself, and with an unrelated history', async () => {
  const { as, repository, main } = await parted();
  const same = (await as('reporter').get(`${repository}/compare`, { from: 'main', to: main })).body;
  assert.deepEqual([same.commit, same.commits, same.diffs, same.compare_same_ref], [null, [], [], true]);
  const apart = (await as('reporter').get(`${repository}/compare`, { from: 'main', to: 'alone' })).body;
  assert.deepEqual(
    apart.diffs.map(({ new_path }: { new_path: string }) => new_path),
    ['z'],
  );
});

test('a refused comparison says why', async () => {
  const { as, repository } = await parted();
  const compare = `${repository}/compare`;
  assert.equal(
    (await as('reporter').get(compare)).body.message,
    'from is missing, from is empty, to is missing, to is empty',
  );
  for (const parameters of [
    { from: 'absent', to: 'main' },
    { from: 'main', to: '--output=x' },
  ]) {
    const missing = await as('reporter').get(compare, parameters);
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 Ref Not Found' }]);
  }
  assert.equal((await as('guest').get(compare, { from: 'main', to: 'side' })).status, 403);
  assert.equal((await as('outsider').get(compare, { from: 'main', to: 'side' })).status, 404);
});

test('the merge base of commits is found', async () => {
  const { as, repository, base } = await parted();
  const asked = (refs: string[]) => as('reporter').get(`${repository}/merge_base`, { refs });
  assert.equal((await asked(['main', 'side'])).body.id, base);
  assert.equal((await asked(['main', 'side', base])).body.id, base);
  for (const [refs, status, message] of [
    [['main'], 400, 'Provide at least 2 refs'],
    [['main', 'x'], 400, 'Could not find ref: x'],
    [['x', 'main', '-y'], 400, 'Could not find refs: x, -y'],
    [['main', 'alone'], 404, '404 Merge Base Not Found'],
    [Array(101).fill('main'), 400, 'Provide at most 100 refs'],
  ] as const) {
    const refused = await asked([...refs]);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
});

test('the contributors of a branch are counted', async () => {
  const { as, repository } = await parted();
  const contributors = `${repository}/contributors`;
  const grace = { ...people.grace, commits: 1, additions: 0, deletions: 0 };
  const ada = { ...people.ada, commits: 2, additions: 0, deletions: 0 };
  assert.deepEqual((await as('reporter').get(contributors)).body, [ada]);
  assert.deepEqual((await as('reporter').get(contributors, { ref: 'side' })).body, [grace, ada]);
  assert.deepEqual((await as('reporter').get(contributors, { ref: 'side', sort: 'desc' })).body, [ada, grace]);
  assert.deepEqual((await as('reporter').get(contributors, { ref: 'side', order_by: 'name', per_page: 1 })).body, [
    ada,
  ]);
  assert.deepEqual((await as('reporter').get(contributors, { ref: 'absent' })).body, { message: '404 Not Found' });
  const empty = await world();
  assert.deepEqual((await empty.as('reporter').get(`/projects/${empty.project.id}/repository/contributors`)).body, []);
});

test('a branch of a fork is compared with the upstream project', async () => {
  const [fork, origin] = [await parted(), await parted()];
  const { as, db, repository, people } = fork;
  const { id } = origin.project;
  const from_project_id = { from: 'main', to: 'side', from_project_id: id };
  const foreign = await as('reporter').get(`${repository}/compare`, from_project_id);
  const refusal = `Target project id:${id} is not a fork of project id:${fork.project.id}`;
  assert.deepEqual([foreign.status, foreign.body], [400, { message: refusal }]);
  await db.updateTable('projects').set({ forked_from_id: id }).where('id', '=', fork.project.id).execute();
  const hidden = await as('reporter').get(`${repository}/compare`, from_project_id);
  assert.deepEqual([hidden.status, hidden.body], [400, { message: refusal }], 'a hidden project does not exist');

  const invite = (access_level: number) => ({ user_id: people.reporter.id, access_level });
  await origin.as('owner').post(`/projects/${id}/members`, invite(10));
  const guest = await as('reporter').get(`${repository}/compare`, from_project_id);
  assert.deepEqual(
    [guest.status, guest.body.message],
    [403, "403 Forbidden - You don't have access to this fork's parent project"],
  );
  await origin.as('owner').put(`/projects/${id}/members/${people.reporter.id}`, { access_level: 20 });

  // Something that only the origin has.
  const changed = await origin.as('maintainer').put(`/projects/${id}/repository/files/b`, {
    branch: 'main',
    commit_message: 'Only there',
    content: 'b\nbb\n',
  });
  assert.equal(changed.status, 200);
  const compared = await as('reporter').get(`${repository}/compare`, from_project_id);
  assert.equal(compared.status, 200, JSON.stringify(compared.body));
  assert.deepEqual(
    compared.body.commits.map(({ title }: { title: string }) => title),
    ['Side one', 'Side two'],
  );
  assert.deepEqual(
    compared.body.diffs.map(({ new_path }: { new_path: string }) => new_path),
    ['a', 'c'],
  );
  const straight = await as('reporter').get(`${repository}/compare`, { ...from_project_id, straight: true });
  assert.deepEqual(
    straight.body.diffs.map(({ old_path, diff }: { old_path: string; diff: string }) => [old_path, diff]),
    [
      ['a', '@@ -1 +1 @@\n-1\n+2\n'],
      ['b', '@@ -1,2 +0,0 @@\n-b\n-bb\n'],
      ['c', '@@ -0,0 +1 @@\n+c\n'],
    ],
  );
  const { commit_id } = (await origin.as('maintainer').get(`/projects/${id}/repository/files/b`, { ref: 'main' })).body;
  assert.equal((await as('reporter').get(`${repository}/commits/${commit_id}`)).status, 404, 'nothing was copied');
  assert.equal(
    (await as('reporter').get(`${repository}/compare`, { ...from_project_id, from: 'none' })).body.message,
    '404 Ref Not Found',
  );
});
