import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { writeCommit } from '../../../git/index.ts';
import { checkLimits } from './checks.ts';

const repositoryUrl = ({ project }: World, rest: string) => `/projects/${project.id}/repository/${rest}`;

async function addRule({ as, project }: World, fields: object): Promise<void> {
  assert.equal((await as('maintainer').post(`/projects/${project.id}/push_rule`, { ...fields })).status, 201);
}

const pattern = "Commit message does not follow the pattern '^Good'";

test('files and commits through the API are subject to the rule, and are refused with the first violation', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  await addRule(here, {
    commit_message_regex: '^Good',
    file_name_regex: '\\.exe$',
    prevent_secrets: true,
    max_file_size: 1,
  });
  const head = await headOf(here);
  const file = { branch: 'main', commit_message: 'Good', content: 'x' };
  const large = 'x'.repeat(1024 * 1024 + 1);
  const commit = (message: string, file_path: string, content = 'x') =>
    maintainer.post(repositoryUrl(here, 'commits'), {
      branch: 'main',
      commit_message: message,
      actions: [{ action: 'create', file_path, content }],
    });
  for (const [refused, message] of [
    [await maintainer.post(fileUrl(here.project, 'a.txt'), { ...file, commit_message: 'Bad' }), pattern],
    [await maintainer.put(fileUrl(here.project, 'README.md'), { ...file, commit_message: 'Bad' }), pattern],
    [await maintainer.delete(fileUrl(here.project, 'README.md'), { ...onMain, commit_message: 'Bad' }), pattern],
    [
      await maintainer.post(fileUrl(here.project, 'a.exe'), file),
      'File name a.exe was prohibited by the pattern "\\.exe$".',
    ],
    [
      await maintainer.post(fileUrl(here.project, 'b.txt'), { ...file, content: large }),
      'File "b.txt" is larger than the allowed size of 1 MB. Use Git LFS to manage this file.',
    ],
    [await commit('Bad', 'a.exe'), pattern],
    [
      await commit('Good', 'x/.bash_history'),
      'File name x/.bash_history was prohibited by the pattern "[._]history$".',
    ],
  ] as const)
    assert.deepEqual([refused.status, refused.body], [400, { message }]);
  assert.equal(await headOf(here), head);

  assert.equal((await maintainer.post(fileUrl(here.project, 'a.txt'), file)).status, 201);
  assert.equal((await commit('Good too', 'b.txt', large.slice(1))).status, 201);
  assert.equal((await maintainer.put(fileUrl(here.project, 'README.md'), file)).status, 200);
  assert.notEqual(await headOf(here), head);
});

test('branches created through the API are subject to the rule', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  await addRule(here, { branch_name_regex: '^feature/', commit_message_regex: '^Good' });
  const branches = repositoryUrl(here, 'branches');
  const refused = await maintainer.post(branches, { branch: 'topic', ref: 'main' });
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: "Branch name 'topic' does not follow the pattern '^feature/'" }],
  );
  assert.equal(await headOf(here, 'topic'), undefined);
  assert.equal((await maintainer.post(branches, { branch: 'feature/a', ref: 'main' })).status, 201);
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
  const commit = { start_branch: 'main', commit_message: 'Good', actions };
  const inCommit = await maintainer.post(repositoryUrl(here, 'commits'), { ...commit, branch: 'topic' });
  assert.deepEqual(
    [inCommit.status, inCommit.body.message],
    [400, "Branch name 'topic' does not follow the pattern '^feature/'"],
  );
  assert.equal((await maintainer.post(repositoryUrl(here, 'commits'), { ...commit, branch: 'feature/b' })).status, 201);
  assert.equal((await maintainer.delete(`${branches}/${encodeURIComponent('feature/a')}`)).status, 204);

  // The first branch of an empty repository begins with a commit of the server.
  const empty = await world();
  await addRule(empty, { commit_message_regex: '^Good' });
  const first = await empty.as('maintainer').post(repositoryUrl(empty, 'branches'), { branch: 'one', ref: 'main' });
  assert.deepEqual([first.status, first.body], [400, { message: pattern }]);
  assert.equal(await headOf(empty), undefined);
});

test('cherry-picks and reverts are subject to the rule', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  await maintainer.post(repositoryUrl(here, 'branches'), { branch: 'side', ref: 'main' });
  const picked = await maintainer.post(repositoryUrl(here, 'commits'), {
    branch: 'side',
    commit_message: 'Bad',
    actions: [{ action: 'create', file_path: 'picked', content: 'a' }],
  });
  await addRule(here, { commit_message_regex: '^Good' });
  const head = await headOf(here);
  const pick = repositoryUrl(here, `commits/${picked.body.id}/cherry_pick`);
  const refused = await maintainer.post(pick, { branch: 'main' });
  assert.deepEqual([refused.status, refused.body], [400, { message: pattern }]);
  assert.equal(await headOf(here), head);
  assert.equal((await maintainer.post(pick, { branch: 'main', message: 'Good' })).status, 201);

  const revert = repositoryUrl(here, `commits/${picked.body.id}/revert`);
  const unreverted = await maintainer.post(revert, { branch: 'side' });
  assert.deepEqual([unreverted.status, unreverted.body], [400, { message: pattern }]);
  assert.equal(await headOf(here, 'side'), picked.body.id);
  await maintainer.put(`/projects/${here.project.id}/push_rule`, { commit_message_regex: '^(Good|Revert)' });
  assert.equal((await maintainer.post(revert, { branch: 'side' })).status, 201);
});

test('commits created by the server need no signature, and their committer is the caller', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  await addRule(here, {
    reject_unsigned_commits: true,
    commit_committer_check: true,
    commit_committer_name_check: true,
    member_check: true,
  });
  const file = { branch: 'main', commit_message: 'Add', content: 'x' };
  assert.equal((await maintainer.post(fileUrl(here.project, 'a.txt'), file)).status, 201);
  const author = { author_name: 'Eve', author_email: 'eve@elsewhere.test' };
  const foreign = await maintainer.post(fileUrl(here.project, 'b.txt'), { ...file, ...author });
  assert.deepEqual(
    [foreign.status, foreign.body],
    [400, { message: "Author 'eve@elsewhere.test' is not a member of team" }],
  );
  const caller = here.people.maintainer.username;
  const renamed = await maintainer.post(fileUrl(here.project, 'b.txt'), {
    ...file,
    author_name: 'Eve',
    author_email: `${caller}@example.com`,
  });
  assert.equal(renamed.body.message, 'Your git author name is inconsistent with Coppice account name');
});

test('a commit that was refused cannot become a branch or a tag', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  await addRule(here, { commit_message_regex: '^Good' });
  // The refused commit is in the repository, where no branch leads to it.
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date() };
  const { id } = await writeCommit(repositoryIn(here), {
    parent: (await headOf(here))!,
    message: 'Bad',
    changes: [{ op: 'put', path: 'a', mode: '100644', content: Buffer.from('a') }],
    author: person,
    committer: person,
  });
  for (const refused of [
    await maintainer.post(repositoryUrl(here, 'branches'), { branch: 'bad', ref: id }),
    await maintainer.post(repositoryUrl(here, 'tags'), { tag_name: 'bad', ref: id }),
  ])
    assert.deepEqual([refused.status, refused.body], [400, { message: pattern }]);
  assert.equal((await maintainer.post(repositoryUrl(here, 'tags'), { tag_name: 'good', ref: 'main' })).status, 201);
});

test('a check that takes too long refuses a commit', async (t) => {
  const here = await filledWorld();
  await addRule(here, { commit_message_regex: '^Good' });
  const { budget_ms } = checkLimits;
  t.after(() => Object.assign(checkLimits, { budget_ms }));
  Object.assign(checkLimits, { budget_ms: 0 });
  const file = { branch: 'main', commit_message: 'Good', content: 'x' };
  const late = await here.as('maintainer').post(fileUrl(here.project, 'a.txt'), file);
  assert.deepEqual([late.status, late.body], [400, { message: 'Push operation timed out' }]);
  Object.assign(checkLimits, { budget_ms });
  assert.equal((await here.as('maintainer').post(fileUrl(here.project, 'a.txt'), file)).status, 201);
});
