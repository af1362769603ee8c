import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf, onMain } from '../../../../test/support/repository.ts';
import { world } from '../../../../test/support/world.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('a file is created, read in every form, updated and deleted', async () => {
  const here = await world();
  const { as, project, people } = here;
  const url = fileUrl(project, 'docs/a b.md');

  const created = await as('maintainer').post(url, { ...onMain, content: 'Grüße\n' });
  assert.equal(created.status, 201);
  assert.deepEqual(created.body, { file_name: 'a b.md', file_path: 'docs/a b.md', branch: 'main' });

  const content = Buffer.from('Grüße\n');
  const head = await headOf(here);
  const read = await as('reporter').get(url, { ref: 'main' });
  assert.equal(read.status, 200);
  assert.deepEqual(read.body, {
    file_name: 'a b.md',
    file_path: 'docs/a b.md',
    size: content.length,
    encoding: 'base64',
    content_sha256: sha256(content),
    ref: 'main',
    blob_id: createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex'),
    commit_id: head,
    last_commit_id: head,
    execute_filemode: false,
    content: content.toString('base64'),
  });

  for (const prefix of ['x-service', 'x-gitlab']) {
    for (const answer of [
      read,
      await as('reporter').head(url, { ref: 'main' }),
      await as('reporter').head(`${url}/blame`, { ref: 'main' }),
      await as('reporter').head(`${url}/raw`, { ref: 'main' }),
      await as('reporter').get(`${url}/raw`, { ref: 'main' }),
      await as('reporter').get(`${url}/blame`, { ref: 'main' }),
    ]) {
      assert.equal(answer.status, 200);
      const header = (name: string) => answer.headers.get(`${prefix}-${name}`);
      assert.equal(header('file-name'), 'a b.md');
      assert.equal(header('file-path'), 'docs/a b.md');
      assert.equal(header('size'), String(content.length));
      assert.equal(header('encoding'), 'base64');
      assert.equal(header('content-sha256'), sha256(content));
      assert.equal(header('ref'), 'main');
      assert.equal(header('blob-id'), read.body.blob_id);
      assert.equal(header('commit-id'), head);
      assert.equal(header('last-commit-id'), head);
      assert.equal(header('execute-filemode'), 'false');
    }
  }

  const raw = await as('reporter').get(`${url}/raw`);
  assert.equal(raw.body, 'Grüße\n');
  assert.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(raw.headers.get('content-disposition'), `inline; filename="a b.md"; filename*=UTF-8''a%20b.md`);
  assert.equal(raw.headers.get('cache-control'), 'max-age=0, private, must-revalidate, no-store, no-cache');
  assert.equal(raw.headers.get('pragma'), 'no-cache');
  assert.equal(raw.headers.get('expires'), 'Fri, 01 Jan 1990 00:00:00 GMT');
  assert.equal(raw.headers.get('x-gitlab-ref'), '');
  assert.equal((await as('reporter').head(`${url}/raw`)).headers.get('content-length'), String(content.length));

  const changed = await as('maintainer').put(url, {
    ...onMain,
    content: 'b',
    author_name: 'Ada',
    author_email: 'ada@example.com',
  });
  assert.equal(changed.status, 200);
  const [commit] = (await as('reporter').get(`/projects/${project.id}/repository/commits`)).body;
  assert.deepEqual(
    [commit.message, commit.author_name, commit.author_email, commit.committer_email, commit.parent_ids],
    ['Change a file', 'Ada', 'ada@example.com', `${people.maintainer.username}@example.com`, [head]],
  );

  const removed = await as('maintainer').delete(url, onMain);
  assert.equal(removed.status, 204);
  assert.equal(removed.body, null);
  const gone = await as('reporter').get(url, { ref: 'main' });
  assert.equal(gone.status, 404);
  assert.deepEqual(gone.body, { message: '404 File Not Found' });
  assert.equal((await as('reporter').get(url, { ref: head })).body.content, content.toString('base64'));
});

test('the first file of a project creates the branch, which becomes the default branch', async () => {
  const { as, project, db } = await world();
  const created = await as('maintainer').post(fileUrl(project, 'a'), {
    branch: 'trunk',
    commit_message: 'x',
    content: '',
  });
  assert.equal(created.status, 201);
  const row = await db
    .selectFrom('projects')
    .select(['default_branch', 'empty_repo'])
    .where('id', '=', project.id)
    .executeTakeFirst();
  assert.deepEqual(row, { default_branch: 'trunk', empty_repo: false });
  const read = await as('reporter').get(fileUrl(project, 'a'), { ref: 'HEAD' });
  assert.equal(read.status, 200);
  assert.equal(read.body.ref, 'HEAD');
  assert.equal(read.body.content, '');
  assert.deepEqual(
    await db.selectFrom('reference_updates').selectAll().where('project_id', '=', project.id).execute(),
    [],
  );
});

test('commits carry the commit email address of their user', async () => {
  const { as, project, db, people } = await world();
  await db
    .updateTable('users')
    .set({ commit_email: 'work@example.com' })
    .where('id', '=', people.maintainer.id)
    .execute();
  await as('maintainer').post(fileUrl(project, 'a'), { ...onMain, content: '' });
  const [commit] = (await as('reporter').get(`/projects/${project.id}/repository/commits`)).body;
  assert.deepEqual([commit.author_email, commit.committer_email], ['work@example.com', 'work@example.com']);
});

test('a refused write says why, and the branch does not move', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  await as('maintainer').post(fileUrl(project, 'folder/inner'), { ...onMain, content: 'x' });
  const before = await headOf(here);
  const refusals: ['post' | 'put' | 'delete', string, object, string][] = [
    ['post', 'README.md', { content: 'x' }, 'A file with this name already exists'],
    ['post', 'folder', { content: 'x' }, 'A directory with this name already exists'],
    ['post', 'README.md/below', { content: 'x' }, 'A file with this name already exists'],
    ['put', 'absent', { content: 'x' }, "A file with this name doesn't exist"],
    ['put', 'folder', { content: 'x' }, "A file with this name doesn't exist"],
    ['delete', 'absent', {}, "A file with this name doesn't exist"],
    ['delete', 'folder', {}, "A file with this name doesn't exist"],
    ['post', '.git/config', { content: 'x' }, "invalid path: '.git/config'"],
    ['post', 'a//b', { content: 'x' }, "invalid path: 'a//b'"],
    ['post', 'a/./b', { content: 'x' }, "invalid path: 'a/./b'"],
    ['post', 'a/', { content: 'x' }, "invalid path: 'a/'"],
    [
      'put',
      'README.md',
      { content: 'one\ntwo\n' },
      'Your changes could not be committed, because the file has been changed, or there was nothing to commit',
    ],
    ['post', 'b', { content: 'x', branch: 'absent' }, 'You can only create or edit files when you are on a branch'],
    [
      'post',
      'b',
      { content: 'x', branch: 'new', start_branch: 'absent' },
      'You can only create or edit files when you are on a branch',
    ],
    [
      'post',
      'b',
      { content: 'x', branch: 'no..name', start_branch: 'main' },
      "Something went wrong when we tried to create 'no..name' for you: Branch name is invalid",
    ],
    [
      'post',
      'b',
      { content: 'x', branch: 'main/below', start_branch: 'main' },
      "Something went wrong when we tried to create 'main/below' for you: Branch name conflicts with existing branch hierarchy.",
    ],
    [
      'post',
      'b',
      { content: 'x', branch: 'a'.repeat(40), start_branch: 'main' },
      'You cannot create a branch with a 40-character hexadecimal branch name.',
    ],
    [
      'put',
      'README.md',
      { content: 'x', last_commit_id: 'f'.repeat(40) },
      'You are attempting to update a file that has changed since you started editing it.',
    ],
    [
      'delete',
      'README.md',
      { last_commit_id: 'f'.repeat(40) },
      'You are attempting to delete a file that has been previously updated.',
    ],
  ];
  for (const [method, path, parameters, message] of refusals) {
    const refused = await as('maintainer')[method](fileUrl(project, path), { ...onMain, ...parameters });
    assert.equal(refused.status, 400, message);
    assert.deepEqual(refused.body, { message });
    assert.equal(await headOf(here), before, message);
  }
  const branches = await as('reporter').get(`/projects/${project.id}/repository/branches`);
  assert.deepEqual(
    branches.body.map(({ name }: { name: string }) => name),
    ['main'],
  );
});

test('a new branch starts from another one, and an existing branch is not restarted', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const main = await headOf(here);
  const edit = { branch: 'edit', start_branch: 'main', commit_message: 'x', content: 'three\n' };
  assert.equal((await as('maintainer').put(fileUrl(project, 'README.md'), edit)).status, 200);
  assert.equal(await headOf(here), main);
  const edited = await headOf(here, 'edit');

  const again = await as('maintainer').put(fileUrl(project, 'README.md'), { ...edit, content: 'four' });
  assert.equal(again.status, 400);
  assert.deepEqual(again.body, {
    message: "A branch called 'edit' already exists. Switch to that branch in order to make changes",
  });
  assert.equal(await headOf(here, 'edit'), edited);
  const same = { ...edit, start_branch: 'edit', content: 'four' };
  assert.equal((await as('maintainer').put(fileUrl(project, 'README.md'), same)).status, 200);
  const empty = { ...edit, branch: 'third', start_branch: 'main', content: 'one\ntwo\n' };
  assert.equal((await as('maintainer').put(fileUrl(project, 'README.md'), empty)).status, 400);
  assert.equal(await headOf(here, 'third'), undefined);
});

test('missing and invalid parameters are reported together', async () => {
  const { as, project } = await filledWorld();
  const url = fileUrl(project, 'README.md');
  const cases: [Promise<{ status: number; body: unknown }>, string][] = [
    [as('reporter').get(url), 'ref is missing, ref is empty'],
    [as('reporter').get(url, { ref: ' ' }), 'ref is empty'],
    [as('reporter').get(`${url}/blame`), 'ref is missing, ref is empty'],
    [as('reporter').get(`${url}/blame`, { ref: 'main', range: { start: 1 } }), 'range[end] is missing'],
    [as('reporter').get(`${url}/blame`, { ref: 'main', range: { start: '', end: 2 } }), 'range[start] is empty'],
    [
      as('reporter').get(`${url}/blame`, { ref: 'main', range: { start: 0, end: 2 } }),
      'range[start] does not have a valid value',
    ],
    [as('reporter').get(`${url}/blame`, { ref: 'main', range: 'x' }), 'range is invalid'],
    [
      as('maintainer').post(url, {}),
      'branch is missing, branch is empty, commit_message is missing, commit_message is empty, content is missing',
    ],
    [
      as('maintainer').post(url, { ...onMain, content: 'x', encoding: 'rot13' }),
      'encoding does not have a valid value',
    ],
    [as('maintainer').put(url, { ...onMain, content: null }), 'content is missing'],
    [as('maintainer').delete(url, { branch: '', commit_message: 'x' }), 'branch is empty'],
    [as('reporter').get(fileUrl(project, 'a/../b'), { ref: 'main' }), 'file_path should be a valid file path'],
    [as('reporter').get(fileUrl(project, '/etc/passwd'), { ref: 'main' }), 'file_path should be a valid file path'],
    [
      as('maintainer').post(fileUrl(project, '..\\x'), { ...onMain, content: 'x' }),
      'file_path should be a valid file path',
    ],
    [as('maintainer').delete(fileUrl(project, '../../x'), onMain), 'file_path should be a valid file path'],
  ];
  for (const [asked, text] of cases) {
    const { status, body } = await asked;
    assert.equal(status, 400, text);
    assert.deepEqual(body, { message: text, error: text });
  }
  assert.equal((await as('reporter').get(`${fileUrl(project, '/README.md')}/raw`)).body, 'one\ntwo\n');
});

test('a body may be a form, as the Ruby client sends it', async () => {
  const { as, project } = await filledWorld();
  const form = new URLSearchParams({
    ...onMain,
    content: `${Buffer.from('from a form').toString('base64')}\n`,
    encoding: 'base64',
  });
  const url = fileUrl(project, 'form');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await as('maintainer').post(url, undefined, { headers, raw: form.toString() })).status, 201);
  assert.equal((await as('reporter').get(`${url}/raw`)).body, 'from a form');
  const removal = new URLSearchParams(onMain).toString();
  assert.equal((await as('maintainer').delete(url, undefined, { headers, raw: removal })).status, 204);
});

test('a body may be multipart; a part that is too long is refused, not truncated', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...onMain, content: 'as multipart' })) form.set(name, value);
  assert.equal((await as('maintainer').post(fileUrl(project, 'parts'), undefined, { raw: form })).status, 201);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'parts')}/raw`)).body, 'as multipart');
  const head = await headOf(here);
  form.set('content', 'x'.repeat(16 * 1024 * 1024 + 1));
  assert.equal((await as('maintainer').put(fileUrl(project, 'parts'), undefined, { raw: form })).status, 413);
  assert.equal(await headOf(here), head);
});

test('the executable bit is set, kept by an update that omits it, and cleared', async () => {
  const { as, project } = await filledWorld();
  const url = fileUrl(project, 'run.sh');
  const isExecutable = async () => (await as('reporter').get(url, { ref: 'main' })).body.execute_filemode;
  await as('maintainer').post(url, { ...onMain, content: 'a', execute_filemode: true });
  assert.equal(await isExecutable(), true);
  assert.equal((await as('reporter').head(url, { ref: 'main' })).headers.get('x-gitlab-execute-filemode'), 'true');
  await as('maintainer').put(url, { ...onMain, content: 'b' });
  assert.equal(await isExecutable(), true);
  await as('maintainer').put(url, { ...onMain, content: 'b', execute_filemode: false });
  assert.equal(await isExecutable(), false);
});

test('an edit based on an outdated version of a file is refused, and one based on the current version is accepted', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const url = fileUrl(project, 'README.md');
  const seen = (await as('reporter').get(url, { ref: 'main' })).body.last_commit_id;
  await as('maintainer').post(fileUrl(project, 'other'), { ...onMain, content: 'x' });
  assert.equal((await as('maintainer').put(url, { ...onMain, content: 'mine', last_commit_id: seen })).status, 200);
  const head = await headOf(here);
  const late = await as('maintainer').put(url, { ...onMain, content: 'late', last_commit_id: seen });
  assert.equal(late.status, 400);
  assert.equal((await as('maintainer').delete(url, { ...onMain, last_commit_id: seen })).status, 400);
  assert.equal(await headOf(here), head);
  const now = (await as('reporter').get(url, { ref: 'main' })).body.last_commit_id;
  assert.equal((await as('maintainer').delete(url, { ...onMain, last_commit_id: now })).status, 204);
});

test('every concurrent edit that was confirmed is in the history', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, number) =>
      as('maintainer').post(fileUrl(project, `file${number}`), { ...onMain, content: 'x' }),
    ),
  );
  const created = answers.filter(({ status }) => status === 201);
  assert.ok(created.length > 0);
  for (const { status, body } of answers) {
    if (status !== 201)
      assert.deepEqual(
        [status, body],
        [400, { message: 'Could not update refs/heads/main. Please refresh and try again.' }],
      );
  }
  for (const { body } of created)
    assert.equal((await as('reporter').get(fileUrl(project, body.file_path), { ref: 'main' })).status, 200);
  const commits = await as('reporter').get(`/projects/${project.id}/repository/commits`);
  assert.equal(commits.body.length, created.length + 1);
  assert.deepEqual(
    await here.db.selectFrom('reference_updates').select('id').where('project_id', '=', project.id).execute(),
    [],
  );
});

test('reporters can read files, and developers can write them', async () => {
  const here = await filledWorld();
  const { as, project, db } = here;
  const url = fileUrl(project, 'README.md');
  const head = await headOf(here);
  const reads: ['anonymous' | 'outsider' | 'guest' | 'planner' | 'reporter', number][] = [
    ['anonymous', 404],
    ['outsider', 404],
    ['guest', 403],
    ['planner', 403],
    ['reporter', 200],
  ];
  for (const [persona, status] of reads) {
    assert.equal((await as(persona).get(url, { ref: 'main' })).status, status, persona);
    assert.equal((await as(persona).get(`${url}/raw`)).status, status, persona);
    assert.equal((await as(persona).get(`${url}/blame`, { ref: 'main' })).status, status, persona);
    assert.equal((await as(persona).head(url, { ref: 'main' })).status, status, persona);
  }
  assert.deepEqual((await as('outsider').get(url, { ref: 'main' })).body, { message: '404 Project Not Found' });
  assert.deepEqual((await as('guest').get(url, { ref: 'main' })).body, { message: '403 Forbidden' });
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['reporter', 403],
  ] as const) {
    const change = { ...onMain, content: 'x' };
    assert.equal((await as(persona).put(url, change)).status, status, persona);
    assert.equal((await as(persona).post(fileUrl(project, 'new'), change)).status, status, persona);
    assert.equal((await as(persona).delete(url, onMain)).status, status, persona);
  }

  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  assert.equal((await as('anonymous').get(url, { ref: 'main' })).status, 200);
  assert.equal((await as('outsider').put(url, { ...onMain, content: 'x' })).status, 403);
  await db.updateTable('projects').set({ archived: true }).where('id', '=', project.id).execute();
  assert.equal((await as('maintainer').put(url, { ...onMain, content: 'x' })).status, 403);
  await db.updateTable('projects').set({ repository_access_level: 'disabled' }).where('id', '=', project.id).execute();
  assert.deepEqual((await as('maintainer').get(url, { ref: 'main' })).body, { message: '404 Repository Not Found' });
  assert.equal(await headOf(here), head);
});

test('a token with read_repository can read files but not write them', async () => {
  const here = await filledWorld();
  const { as, project, db, people } = here;
  const url = fileUrl(project, 'README.md');
  await db
    .updateTable('personal_access_tokens')
    .set({ scopes: ['read_repository'] })
    .where('user_id', '=', people.maintainer.id)
    .execute();
  assert.equal((await as('maintainer').get(url, { ref: 'main' })).status, 200);
  assert.equal((await as('maintainer').get(`${url}/raw`)).status, 200);
  const refused = await as('maintainer').put(url, { ...onMain, content: 'x' });
  assert.equal(refused.status, 403);
  assert.equal(refused.body.error, 'insufficient_scope');
});

test('content with characters that are not Base64 is refused, and nothing is committed; line ends are fine', async () => {
  const { as, project } = await world();
  const base = `/projects/${project.id}/repository`;
  const file = { branch: 'main', commit_message: 'Add', encoding: 'base64' };
  const refused = await as('owner').post(`${base}/files/a.txt`, { ...file, content: 'not base64!' });
  assert.deepEqual([refused.status, refused.body.message], [400, 'content is not valid Base64']);
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'YWI$', encoding: 'base64' }];
  const commit = await as('owner').post(`${base}/commits`, { branch: 'main', commit_message: 'Add', actions });
  assert.deepEqual([commit.status, commit.body.message], [400, 'actions[0][content] is not valid Base64']);
  assert.equal((await as('owner').get(`${base}/files/a.txt?ref=main`)).status, 404);
  assert.equal((await as('owner').post(`${base}/files/a.txt`, { ...file, content: 'YXBw\r\nbGVz\n' })).status, 201);
  assert.equal((await as('owner').get(`${base}/files/a.txt/raw?ref=main`)).body, 'apples');
});
