import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf, onMain, repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { git, readCommit, resolveBranch, updateRefs } from '../../../../git/index.ts';
import { changesFor } from './file_actions.ts';

const commitsOf = ({ project }: World) => `/projects/${project.id}/repository/commits`;
const change = { branch: 'main', commit_message: 'Change files' };

/** The files of a branch as `mode path content`. */
async function filesOf(here: World, branch = 'main'): Promise<string[]> {
  const repository = repositoryIn(here);
  const output = (
    await git(repository, 'ls-tree', ['-r', '-z', '--format=%(objectmode) %(objectname) %(path)'], [branch])
  )
    .toString()
    .split('\0')
    .slice(0, -1);
  return Promise.all(
    output.map(async (line) => {
      const [, mode, id, path] = /^(\d+) (\w+) (.*)$/.exec(line) ?? [];
      return `${mode} ${path} ${(await git(repository, 'cat-file', ['-p'], [id!])).toString()}`;
    }),
  );
}

test('other requests are served between the actions of a large commit', async () => {
  const here = await filledWorld();
  const parent = (await headOf(here))!;
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  const turnsAt: number[] = [];
  const actions = Array.from({ length: 500 }, (_, index) => ({
    action: 'create' as const,
    content: Buffer.from('x'),
    get file_path() {
      turnsAt.push(turns);
      return `file-${index}`;
    },
  }));
  await changesFor(repositoryIn(here), parent, actions.slice(0, 1)); // from now on the trees are in memory
  turnsAt.length = 0;
  setImmediate(count);
  await changesFor(repositoryIn(here), parent, actions);
  isReading = false;
  assert.ok(turnsAt.at(-1)! - turnsAt[0]! >= 4, `${turnsAt[0]} to ${turnsAt.at(-1)}`);
});

test('a blank author counts as omitted', async () => {
  const here = await filledWorld();
  const actions = [{ action: 'create', file_path: 'new', content: 'x' }];
  const { body } = await here
    .as('maintainer')
    .post(commitsOf(here), { ...change, author_name: ' ', author_email: '\t', actions });
  assert.deepEqual([body.author_name, body.author_email], [body.committer_name, body.committer_email]);
});

test('one commit can contain every kind of action, applied in order', async () => {
  const here = await filledWorld();
  const { as, people } = here;
  const before = await headOf(here);
  const { status, body } = await as('maintainer').post(commitsOf(here), {
    ...change,
    author_name: 'Ada',
    author_email: 'ada@example.com',
    actions: [
      { action: 'create', file_path: 'a/new', content: Buffer.from('new').toString('base64'), encoding: 'base64' },
      { action: 'update', file_path: 'a/new', content: 'newer' },
      { action: 'move', file_path: 'docs/README.md', previous_path: 'README.md' },
      { action: 'chmod', file_path: 'docs/README.md', execute_filemode: true },
      { action: 'create', file_path: 'gone' },
      { action: 'delete', file_path: 'gone' },
      { action: 'move', file_path: 'b', previous_path: 'a/new', content: 'moved', execute_filemode: false },
    ],
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.id, await headOf(here));
  assert.deepEqual(body.parent_ids, [before]);
  assert.deepEqual(
    [body.title, body.author_name, body.committer_email],
    ['Change files', 'Ada', `${people.maintainer.username}@example.com`],
  );
  assert.deepEqual(body.stats, { additions: 1, deletions: 0, total: 1 });
  assert.deepEqual(await filesOf(here), ['100644 b moved', '100755 docs/README.md one\ntwo\n']);

  const short = await as('maintainer').post(commitsOf(here), {
    ...change,
    stats: false,
    actions: [{ action: 'delete', file_path: 'b' }],
  });
  assert.deepEqual([short.status, 'stats' in short.body], [201, false]);
});

test('a commit may be sent as a form, as multipart or as JSON', async () => {
  const here = await filledWorld();
  const pairs: [string, string][] = [
    ['branch', 'main'],
    ['commit_message', 'By form'],
    ['actions[][action]', 'create'],
    ['actions[][file_path]', 'one file'],
    ['actions[][content]', 'ä & b'],
    ['actions[][action]', 'chmod'],
    ['actions[][file_path]', 'one file'],
    ['actions[][execute_filemode]', 'true'],
  ];
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const client = here.as('maintainer');
  const raw = new URLSearchParams(pairs).toString();
  assert.equal((await client.post(commitsOf(here), undefined, { headers, raw })).status, 201);
  assert.ok((await filesOf(here)).includes('100755 one file ä & b'));
  await client.post(commitsOf(here), { ...change, actions: [{ action: 'delete', file_path: 'one file' }] });
  const parts = new FormData();
  for (const [name, value] of pairs) parts.append(name, value);
  assert.equal((await client.post(commitsOf(here), undefined, { raw: parts })).status, 201);
  assert.ok((await filesOf(here)).includes('100755 one file ä & b'));
});

test('a missing or invalid parameter is reported with its action, and nothing is committed', async () => {
  const here = await filledWorld();
  const { as } = here;
  const before = await headOf(here);
  const one = { action: 'create', file_path: 'x', content: 'x' };
  const readme = { file_path: 'README.md' };
  const refusals: [object, string][] = [
    [{ branch: undefined, actions: [one] }, '400 Bad request - branch is required'],
    [
      { branch: ' ', commit_message: '', actions: [] },
      '400 Bad request - branch is required, commit_message is required, actions is required',
    ],
    [{ actions: { a: 1 } }, '400 Bad request - actions must be an array'],
    [
      { actions: [one], start_branch: 'a', start_sha: 'b' },
      '400 Bad request - start_branch, start_sha are mutually exclusive',
    ],
    [{ actions: [{}] }, '400 Bad request - actions[0][action] is required, actions[0][file_path] is required'],
    [
      { actions: [one, { ...one, action: 'paint' }] },
      '400 Bad request - actions[1][action] must be one of: create, update, move, delete, chmod',
    ],
    [{ actions: [{ ...one, encoding: 'x' }] }, '400 Bad request - actions[0][encoding] must be text or base64'],
    [
      { actions: [{ ...readme, action: 'update' }] },
      '400 Bad request - actions[0][content] is required for update action',
    ],
    [
      { actions: [{ ...one, action: 'move' }] },
      '400 Bad request - actions[0][previous_path] is required for move action',
    ],
    [
      { actions: [{ ...readme, action: 'chmod' }] },
      '400 Bad request - actions[0][execute_filemode] is required for chmod action',
    ],
    [
      { actions: [{ ...one, execute_filemode: 'perhaps' }] },
      '400 Bad request - actions[0][execute_filemode] must be a boolean',
    ],
    [{ actions: [one, { ...readme, action: 'create' }] }, 'A file with this name already exists'],
    [{ actions: [one, { ...one, file_path: 'y', action: 'update' }] }, "A file with this name doesn't exist"],
    [{ actions: [one, { action: 'delete', file_path: 'y' }] }, "A file with this name doesn't exist"],
    [{ actions: [{ action: 'chmod', file_path: 'y', execute_filemode: true }] }, "A file with this name doesn't exist"],
    [{ actions: [{ action: 'move', file_path: 'y', previous_path: 'z' }] }, "A file with this name doesn't exist"],
    [
      { actions: [one, { action: 'move', file_path: 'README.md', previous_path: 'x' }] },
      'A file with this name already exists',
    ],
    [{ actions: [{ ...one, file_path: 'x/y' }, one] }, 'A directory with this name already exists'],
    [{ actions: [{ ...one, file_path: '../x' }] }, 'Path cannot include directory traversal'],
    [{ actions: [{ ...one, file_path: '.git/config' }] }, "invalid path: '.git/config'"],
    [
      { actions: [{ action: 'move', file_path: 'a', previous_path: '../x' }] },
      'Path cannot include directory traversal',
    ],
    [
      { actions: [one, { ...readme, action: 'delete', last_commit_id: 'ab'.repeat(20) }] },
      'The file has changed since you started editing it: README.md',
    ],
    [{ branch: 'none', actions: [one] }, 'You can only create or edit files when you are on a branch'],
    [{ branch: 'new', start_sha: 'main', actions: [one] }, "Invalid start_sha 'main'"],
    [{ branch: 'new', start_sha: 'ab'.repeat(20), actions: [one] }, `Cannot find start_sha '${'ab'.repeat(20)}'`],
    [
      { branch: 'new..x', start_branch: 'main', actions: [one] },
      "Something went wrong when we tried to create 'new..x' for you: Branch name is invalid",
    ],
    [
      { start_sha: before, actions: [one] },
      "A branch called 'main' already exists. Switch to that branch in order to make changes",
    ],
  ];
  for (const [parameters, message] of refusals) {
    const refused = await as('maintainer').post(commitsOf(here), { ...change, ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.equal(await headOf(here), before);
  assert.equal(await headOf(here, 'new'), undefined);
});

test('a branch starts from another branch or a commit, and restarts only with force', async () => {
  const here = await filledWorld();
  const { as } = here;
  const first = await headOf(here);
  await as('maintainer').put(fileUrl(here.project, 'README.md'), { ...onMain, content: 'three\n' });
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }];
  const commit = (parameters: object) => as('developer').post(commitsOf(here), { ...change, actions, ...parameters });
  assert.equal((await commit({ branch: 'one', start_branch: 'main' })).status, 201);
  assert.deepEqual(await filesOf(here, 'one'), ['100644 README.md three\n', '100644 x x']);
  const restarted = await commit({ branch: 'one', start_sha: first!.toUpperCase(), force: true });
  assert.deepEqual(restarted.body.parent_ids, [first]);
  assert.deepEqual(await filesOf(here, 'one'), ['100644 README.md one\ntwo\n', '100644 x x']);

  const refused = await commit({});
  assert.deepEqual(
    [refused.status, refused.body],
    [403, { message: '403 Forbidden - You are not allowed to push into this branch' }],
  );
  const forced = await as('maintainer').post(commitsOf(here), { ...change, actions, start_sha: first, force: true });
  assert.deepEqual(
    [forced.status, forced.body.message],
    [400, 'You are not allowed to force push code to a protected branch on this project.'],
  );
  assert.equal((await as('reporter').post(commitsOf(here), { ...change, actions })).status, 403);
});

test('a commit to an empty repository creates the first branch', async () => {
  const here = await world();
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }];
  const made = await here.as('maintainer').post(commitsOf(here), { branch: 'trunk', commit_message: 'First', actions });
  assert.deepEqual([made.status, made.body.parent_ids], [201, []]);
  assert.equal((await here.as('reporter').get(`/projects/${here.project.id}`)).body.default_branch, 'trunk');
});

test('a commit can start from a fork, but not from an unrelated project', async () => {
  const [here, other] = [await filledWorld(), await filledWorld()];
  const { as, project, db } = here;
  await db.updateTable('projects').set({ forked_from_id: project.id }).where('id', '=', other.project.id).execute();
  const { id: member } = here.people.maintainer;
  await other.as('owner').post(`/projects/${other.project.id}/members`, { user_id: member, access_level: 20 });
  await other.as('maintainer').put(fileUrl(other.project, 'README.md'), { ...onMain, content: 'from the fork\n' });
  const head = await headOf(other);
  const parameters = {
    branch: 'theirs',
    commit_message: 'On top',
    start_branch: 'main',
    actions: [{ action: 'create', file_path: 'x', content: 'x' }],
  };
  const begin = (start_project: number | string) =>
    as('maintainer').post(commitsOf(here), { ...parameters, start_project });
  const made = await begin(other.project.full_path);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.deepEqual(made.body.parent_ids, [head]);
  assert.deepEqual(await filesOf(here, 'theirs'), ['100644 README.md from the fork\n', '100644 x x']);

  await db.updateTable('projects').set({ forked_from_id: null }).where('id', '=', other.project.id).execute();
  const outside = await begin(other.project.id);
  assert.equal(outside.status, 403);
  assert.equal(
    outside.body.message,
    `403 Forbidden - Project is not included in the fork network for ${here.group.path} / ${project.path}`,
  );
  assert.equal((await begin(999_999)).status, 404);
});

/** A world where `topic` has one commit behind `main` that adds a file and changes the first line. */
async function withTopic(): Promise<World & { topic: string }> {
  const here = await filledWorld();
  const { status, body } = await here.as('developer').post(commitsOf(here), {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Say it better\n\nAt length.\n',
    author_name: 'Ada',
    author_email: 'ada@example.com',
    actions: [
      { action: 'update', file_path: 'README.md', content: 'uno\ntwo\n' },
      { action: 'create', file_path: 'added', content: 'x' },
    ],
  });
  assert.equal(status, 201);
  return { ...here, topic: body.id };
}

test('a commit is cherry-picked and reverted, and each new commit names its origin', async () => {
  const { topic, ...here } = await withTopic();
  const { as } = here;
  await as('maintainer').post(fileUrl(here.project, 'meanwhile'), { ...onMain, content: '' });
  const before = await headOf(here);
  const url = `${commitsOf(here)}/${topic}/cherry_pick`;
  const dry = await as('maintainer').post(url, { branch: 'main', dry_run: true });
  assert.deepEqual([dry.status, dry.body, await headOf(here)], [200, { dry_run: 'success' }, before]);

  const picked = await as('maintainer').post(url, { branch: 'main' });
  assert.equal(picked.status, 201);
  assert.deepEqual([picked.body.id, picked.body.parent_ids], [await headOf(here), [before]]);
  assert.equal(picked.body.message, `Say it better\n\nAt length.\n\n(cherry picked from commit ${topic})`);
  assert.deepEqual([picked.body.author_name, picked.body.committer_name.startsWith('maintainer')], ['Ada', true]);
  const original = await readCommit(repositoryIn(here), topic);
  assert.equal(picked.body.authored_date, original.authored_date);
  assert.deepEqual(await filesOf(here), ['100644 README.md uno\ntwo\n', '100644 added x', '100644 meanwhile ']);

  const reverted = await as('maintainer').post(`${commitsOf(here)}/${picked.body.id}/revert`, { branch: 'main' });
  assert.equal(reverted.status, 201);
  assert.equal(reverted.body.message, `Revert "Say it better"\n\nThis reverts commit ${picked.body.id}`);
  assert.notEqual(reverted.body.author_name, 'Ada');
  assert.deepEqual(await filesOf(here), ['100644 README.md one\ntwo\n', '100644 meanwhile ']);

  const own = await as('maintainer').post(url, { branch: 'main', message: 'Once more' });
  assert.equal(own.body.message, 'Once more');
  const root = (await as('reporter').get(commitsOf(here))).body.at(-1).id;
  const emptied = await as('developer').post(`${commitsOf(here)}/${root}/revert`, { branch: 'topic' });
  assert.equal(emptied.body.error_code, 'conflict', 'README.md has changed since');
});

test('a cherry-pick keeps the time zone of the author, and it and a revert keep bytes that are not UTF-8', async () => {
  const { topic, ...here } = await withTopic();
  const repository = repositoryIn(here);
  const { tree_id, parent_ids } = await readCommit(repository, topic);
  const author = 'author Jos\xe9 <j@example.com> 1700000000 +0530\n';
  const content = `tree ${tree_id}\nparent ${parent_ids[0]}\n${author}committer A <a@b> 1700000000 -0800\n\nCaf\xe9\n\nAt length.\n`;
  const input = Buffer.from(content, 'latin1');
  const id = (await git(repository, 'hash-object', ['-tcommit', '-w', '--stdin'], [], [], { input })).toString().trim();
  await updateRefs(repository, [{ ref: 'refs/heads/odd', old: null, new: id }]);
  const made = async (kind: string, sha: string) => {
    const { status, body } = await here
      .as('maintainer')
      .post(`${commitsOf(here)}/${sha}/${kind}`, { branch: 'main', message: '  ' });
    assert.equal(status, 201, JSON.stringify(body));
    const commit = (await git(repository, 'cat-file commit', [], [body.id])).toString('latin1');
    return {
      id: body.id,
      author: `${/^author .*$/m.exec(commit)![0]}\n`,
      message: commit.slice(commit.indexOf('\n\n') + 2),
    };
  };
  const picked = await made('cherry_pick', id);
  const message = `Caf\xe9\n\nAt length.\n\n(cherry picked from commit ${id})`;
  assert.deepEqual([picked.author, picked.message], [author, message], 'a blank message is as none');
  const reverted = await made('revert', picked.id);
  assert.equal(reverted.message, `Revert "Caf\xe9"\n\nThis reverts commit ${picked.id}`);
});

test('a failed cherry-pick says why, and the branch does not move', async () => {
  const { topic, ...here } = await withTopic();
  const { as } = here;
  const url = `${commitsOf(here)}/${topic}`;
  const before = await headOf(here);
  const failed = (kind: string, done: string) =>
    `Sorry, we cannot ${kind} this commit automatically. This commit may already have been ${done}, ` +
    'or a more recent commit may have updated some of its content.';
  const again = await as('developer').post(`${url}/cherry_pick`, { branch: 'topic', dry_run: true });
  assert.deepEqual(
    [again.status, again.body],
    [400, { message: failed('cherry-pick', 'cherry-picked'), error_code: 'empty', dry_run: 'error' }],
  );
  await as('maintainer').put(fileUrl(here.project, 'README.md'), { ...onMain, content: 'eins\ntwo\n' });
  const [now, topicHead] = [await headOf(here), await resolveBranch(repositoryIn(here), 'topic')];
  const met = await as('maintainer').post(`${url}/cherry_pick`, { branch: 'main' });
  assert.deepEqual(
    [met.status, met.body],
    [400, { message: failed('cherry-pick', 'cherry-picked'), error_code: 'conflict' }],
  );
  const undone = await as('maintainer').post(`${url}/revert`, { branch: 'main' });
  assert.deepEqual([undone.status, undone.body.message], [400, failed('revert', 'reverted')]);

  for (const [persona, parameters, status, message] of [
    ['developer', { branch: 'main' }, 403, '403 Forbidden - You are not allowed to push into this branch'],
    ['reporter', { branch: 'topic' }, 403, '403 Forbidden'],
    ['developer', { branch: 'none' }, 404, '404 Branch Not Found'],
    ['developer', {}, 400, 'branch is missing, branch is empty'],
  ] as const)
    for (const kind of ['cherry_pick', 'revert']) {
      const refused = await as(persona).post(`${url}/${kind}`, parameters);
      assert.deepEqual([refused.status, refused.body.message], [status, message], kind);
    }
  const unknown = await as('developer').post(`${commitsOf(here)}/${'ab'.repeat(20)}/revert`, { branch: 'topic' });
  assert.equal(unknown.body.message, '404 Commit Not Found');
  assert.deepEqual([await headOf(here), await headOf(here, 'topic')], [now, topicHead]);
  assert.notEqual(now, before);
});

test('concurrent commits to one branch are queued, and no client has to retry', async () => {
  const here = await withTopic();
  const { as, topic } = here;
  const before = (await as('reporter').get(`${commitsOf(here)}/main/sequence`)).body.count;
  const writers = Array.from({ length: 12 }, (_, number) =>
    as('maintainer').post(commitsOf(here), { ...change, actions: [{ action: 'create', file_path: `file ${number}` }] }),
  );
  const answers = await Promise.all([
    ...writers,
    as('maintainer').post(`${commitsOf(here)}/${topic}/cherry_pick`, { branch: 'main' }),
  ]);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  assert.equal((await as('reporter').get(`${commitsOf(here)}/main/sequence`)).body.count, before + 13);
  assert.equal((await filesOf(here)).length, 2 + 12);

  const same = { ...change, actions: [{ action: 'create', file_path: 'the same' }] };
  const twice = await Promise.all([
    as('maintainer').post(commitsOf(here), same),
    as('maintainer').post(commitsOf(here), same),
  ]);
  assert.deepEqual(twice.map(({ status, body }) => [status, status === 201 ? '' : body.message]).toSorted(), [
    [201, ''],
    [400, 'A file with this name already exists'],
  ]);
});

test('a file can be emptied, and cannot be moved onto itself', async () => {
  const here = await filledWorld();
  const commit = (action: object) => here.as('maintainer').post(commitsOf(here), { ...change, actions: [action] });
  const onto = await commit({ action: 'move', file_path: 'README.md', previous_path: 'README.md', content: 'x' });
  assert.deepEqual([onto.status, onto.body.message], [400, 'A file with this name already exists']);
  assert.equal((await commit({ action: 'update', file_path: 'README.md', content: '' })).status, 201);
  assert.deepEqual(await filesOf(here), ['100644 README.md ']);
});

test('a name too long for the file system is refused like any other invalid name', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const repository = `/projects/${project.id}/repository`;
  const long = 'x'.repeat(251);
  const branch = await as('developer').post(`${repository}/branches`, { branch: `a/${long}`, ref: 'main' });
  assert.deepEqual([branch.status, branch.body.message], [400, 'Branch name is invalid']);
  const tag = await as('developer').post(`${repository}/tags`, { tag_name: long, ref: 'main' });
  assert.deepEqual([tag.status, tag.body.message], [400, 'Tag name invalid']);
  const deep = Array.from({ length: 30 }, () => 'y'.repeat(100)).join('/');
  const actions = [{ action: 'create', file_path: 'x' }];
  const commit = await as('developer').post(commitsOf(here), {
    ...change,
    branch: deep,
    start_branch: 'main',
    actions,
  });
  assert.equal(
    commit.body.message,
    `Something went wrong when we tried to create '${deep}' for you: Branch name is invalid`,
  );
  assert.equal(
    (await as('developer').post(`${repository}/branches`, { branch: long.slice(1), ref: 'main' })).status,
    201,
  );
});
