import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { entryAt, readBlob, resolveBranch, updateRefs } from '../../git/index.ts';
import { gitClient, remoteOf } from '../../testing/git.ts';
import { type World, world } from '../../testing/world.ts';
import { repositoryOf } from '../repository/index.ts';

const onMain = { branch: 'main', commit_message: 'Change a file' };
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function fileUrl(project: { id: number }, path: string): string {
  return `/projects/${project.id}/repository/files/${encodeURIComponent(path)}`;
}

function repositoryIn({ services, project }: World) {
  return repositoryOf(services, { id: project.id, storage: 'default' });
}

const headOf = (place: World, branch = 'main') => resolveBranch(repositoryIn(place), branch);

/** A world whose project has `README.md` on `main`. */
async function filled(): Promise<World> {
  const place = await world();
  const created = await place.as('developer').post(fileUrl(place.project, 'README.md'), { ...onMain, content: 'one\ntwo\n' });
  assert.equal(created.status, 201);
  return place;
}

/** Sends a path exactly as it is; fetch would resolve `%2E%2E`. */
function rawGet(url: string, path: string, token: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const asked = request({ hostname, port, path, headers: { 'private-token': token } }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode!, body });
    });
    asked.on('error', reject).end();
  });
}

test('a file is created, read in every way, changed and removed', async () => {
  const place = await world();
  const { as, project, people } = place;
  const url = fileUrl(project, 'docs/a b.md');

  const created = await as('developer').post(url, { ...onMain, content: 'Grüße\n' });
  assert.equal(created.status, 201);
  assert.deepEqual(created.body, { file_name: 'a b.md', file_path: 'docs/a b.md', branch: 'main' });

  const content = Buffer.from('Grüße\n');
  const head = await headOf(place);
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

  const changed = await as('developer').put(url, {
    ...onMain,
    content: 'b',
    author_name: 'Ada',
    author_email: 'ada@example.com',
  });
  assert.equal(changed.status, 200);
  const [commit] = (await as('reporter').get(`/projects/${project.id}/repository/commits`)).body;
  assert.deepEqual(
    [commit.message, commit.author_name, commit.author_email, commit.committer_email, commit.parent_ids],
    ['Change a file', 'Ada', 'ada@example.com', `${people.developer.username}@example.com`, [head]],
  );

  const removed = await as('developer').delete(url, onMain);
  assert.equal(removed.status, 204);
  assert.equal(removed.body, null);
  const gone = await as('reporter').get(url, { ref: 'main' });
  assert.equal(gone.status, 404);
  assert.deepEqual(gone.body, { message: '404 File Not Found' });
  assert.equal((await as('reporter').get(url, { ref: head })).body.content, content.toString('base64'));
});

test('the first file of a project makes the branch, which becomes the default one', async () => {
  const { as, project, db } = await world();
  const created = await as('developer').post(fileUrl(project, 'a'), { branch: 'trunk', commit_message: 'x', content: '' });
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
  assert.deepEqual(await db.selectFrom('reference_updates').selectAll().where('project_id', '=', project.id).execute(), []);
});

test('the commit address of a user signs what he commits', async () => {
  const { as, project, db, people } = await world();
  await db.updateTable('users').set({ commit_email: 'work@example.com' }).where('id', '=', people.developer.id).execute();
  await as('developer').post(fileUrl(project, 'a'), { ...onMain, content: '' });
  const [commit] = (await as('reporter').get(`/projects/${project.id}/repository/commits`)).body;
  assert.deepEqual([commit.author_email, commit.committer_email], ['work@example.com', 'work@example.com']);
});

test('a write that cannot be made says why, and the branch stays where it is', async () => {
  const place = await filled();
  const { as, project } = place;
  await as('developer').post(fileUrl(project, 'folder/inner'), { ...onMain, content: 'x' });
  const before = await headOf(place);
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
    const refused = await as('developer')[method](fileUrl(project, path), { ...onMain, ...parameters });
    assert.equal(refused.status, 400, message);
    assert.deepEqual(refused.body, { message });
    assert.equal(await headOf(place), before, message);
  }
  const branches = await as('reporter').get(`/projects/${project.id}/repository/branches`);
  assert.deepEqual(
    branches.body.map(({ name }: { name: string }) => name),
    ['main'],
  );
});

test('a new branch begins at another one, and an existing one is not begun again', async () => {
  const place = await filled();
  const { as, project } = place;
  const main = await headOf(place);
  const edit = { branch: 'edit', start_branch: 'main', commit_message: 'x', content: 'three\n' };
  assert.equal((await as('developer').put(fileUrl(project, 'README.md'), edit)).status, 200);
  assert.equal(await headOf(place), main);
  const edited = await headOf(place, 'edit');

  const again = await as('developer').put(fileUrl(project, 'README.md'), { ...edit, content: 'four' });
  assert.equal(again.status, 400);
  assert.deepEqual(again.body, {
    message: "A branch called 'edit' already exists. Switch to that branch in order to make changes",
  });
  assert.equal(await headOf(place, 'edit'), edited);
  const same = { ...edit, start_branch: 'edit', content: 'four' };
  assert.equal((await as('developer').put(fileUrl(project, 'README.md'), same)).status, 200);
  const empty = { ...edit, branch: 'third', start_branch: 'main', content: 'one\ntwo\n' };
  assert.equal((await as('developer').put(fileUrl(project, 'README.md'), empty)).status, 400);
  assert.equal(await headOf(place, 'third'), undefined);
});

test('missing and wrong parameters are named all together', async () => {
  const { as, project } = await filled();
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
      as('developer').post(url, {}),
      'branch is missing, branch is empty, commit_message is missing, commit_message is empty, content is missing',
    ],
    [as('developer').post(url, { ...onMain, content: 'x', encoding: 'rot13' }), 'encoding does not have a valid value'],
    [as('developer').put(url, { ...onMain, content: null }), 'content is missing'],
    [as('developer').delete(url, { branch: '', commit_message: 'x' }), 'branch is empty'],
    [as('reporter').get(fileUrl(project, 'a/../b'), { ref: 'main' }), 'file_path should be a valid file path'],
    [as('reporter').get(fileUrl(project, '/etc/passwd'), { ref: 'main' }), 'file_path should be a valid file path'],
    [as('developer').post(fileUrl(project, '..\\x'), { ...onMain, content: 'x' }), 'file_path should be a valid file path'],
    [as('developer').delete(fileUrl(project, '../../x'), onMain), 'file_path should be a valid file path'],
  ];
  for (const [asked, text] of cases) {
    const { status, body } = await asked;
    assert.equal(status, 400, text);
    assert.deepEqual(body, { message: text, error: text });
  }
  assert.equal((await as('reporter').get(`${fileUrl(project, '/README.md')}/raw`)).body, 'one\ntwo\n');
});

test('a path that the client escapes down to its dots is the same path, and never leads outside', async () => {
  const { as, project, url, people } = await filled();
  const files = `/api/v4/projects/${project.id}/repository/files`;
  const read = await rawGet(url, `${files}/README%2Emd?ref=main`, people.reporter.token);
  assert.equal(JSON.parse(read.body).file_path, 'README.md');
  for (const path of ['%2E%2E', '%2e%2e%2f%2e%2e%2fconfig', 'x%2F..%2F..%2Fconfig', '..%5Cconfig']) {
    const refused = await rawGet(url, `${files}/${path}?ref=main`, people.reporter.token);
    assert.deepEqual([refused.status, JSON.parse(refused.body).message], [400, 'file_path should be a valid file path'], path);
  }
  assert.equal((await as('reporter').get(`${fileUrl(project, '.')}`, { ref: 'main' })).status, 404);
});

test('odd names are names like any other', async () => {
  const place = await filled();
  const { as, project } = place;
  const paths = [
    'with space.txt',
    ' ',
    'ünï/日本語 🦊.md',
    '100%/%41/a%2Fb',
    'a+b&c=d;e?f#g',
    '-rf',
    '--output=x',
    ':(glob)*',
    '.hidden/...',
    '..a/b..',
    'raw',
    'blame',
    'a\\b',
    '"quoted" \'name\'',
    'line\nbreak\ttab',
    Array.from({ length: 100 }, (_, level) => `level${level}`).join('/'),
  ];
  for (const name of paths) {
    const created = await as('developer').post(fileUrl(project, name), { ...onMain, content: `in ${name}` });
    assert.equal(created.status, 201, name);
    assert.equal(created.body.file_path, name);
    const read = await as('reporter').get(fileUrl(project, name), { ref: 'main' });
    assert.equal(Buffer.from(read.body.content, 'base64').toString(), `in ${name}`, name);
    assert.equal(read.body.file_name, name.split('/').at(-1));
    const raw = await as('reporter').get(`${fileUrl(project, name)}/raw`, { ref: 'main' });
    assert.equal(raw.body, `in ${name}`, name);
    const blamed = await as('reporter').get(`${fileUrl(project, name)}/blame`, { ref: 'main' });
    assert.equal(blamed.body[0].lines[0], `in ${name}`.split('\n')[0], name);
  }
});

test('a ref is a branch, a tag, a commit, or the beginning of its id; a tag goes before a branch of its name', async () => {
  const place = await filled();
  const { as, project } = place;
  const repository = repositoryIn(place);
  const first = (await headOf(place))!;
  await as('developer').put(fileUrl(project, 'README.md'), { ...onMain, content: 'newer' });
  await updateRefs(repository, [
    { ref: 'refs/tags/both', old: null, new: first },
    { ref: 'refs/heads/both', old: null, new: (await headOf(place))! },
  ]);
  for (const ref of ['both', first, first.slice(0, 8), 'refs/tags/both']) {
    const read = await as('reporter').get(fileUrl(project, 'README.md'), { ref });
    assert.equal(read.body.commit_id, first, ref);
    assert.equal(read.body.ref, ref);
  }
  assert.notEqual((await as('reporter').get(fileUrl(project, 'README.md'), { ref: 'refs/heads/both' })).body.commit_id, first);
  for (const ref of ['absent', 'main~1', 'main:README.md', '--all', 'HEAD^{/x}', '0000000', 'ünknown']) {
    const missing = await as('reporter').get(fileUrl(project, 'README.md'), { ref });
    assert.equal(missing.status, 404, ref);
    assert.deepEqual(missing.body, { message: '404 Commit Not Found' });
    const head = await as('reporter').head(fileUrl(project, 'README.md'), { ref });
    assert.deepEqual([head.status, head.body], [404, null]);
  }
});

test('in an empty repository there is no commit to read from', async () => {
  const { as, project } = await world();
  for (const path of ['', '/raw', '/blame']) {
    const missing = await as('reporter').get(`${fileUrl(project, 'a')}${path}`, { ref: 'main' });
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 Commit Not Found' }]);
  }
  assert.equal((await as('reporter').get(`${fileUrl(project, 'a')}/raw`)).status, 404);
});

test('bytes come back as they were sent, up to ten megabytes and in every encoding', async () => {
  const place = await filled();
  const { as, project } = place;
  const binary = randomBytes(10 * 1024 * 1024);
  const contents: [string, Record<string, string>, Buffer][] = [
    [
      'all',
      { content: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64'), encoding: 'base64' },
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
    ],
    ['big', { content: binary.toString('base64'), encoding: 'base64' }, binary],
    [
      'wrapped',
      {
        content: `${Buffer.from('wrapped in lines')
          .toString('base64')
          .replace(/(.{6})/g, '$1\r\n')}\n`,
        encoding: 'base64',
      },
      Buffer.from('wrapped in lines'),
    ],
    ['text', { content: 'a\r\nb\0c\n\u{1F98A}' }, Buffer.from('a\r\nb\0c\n\u{1F98A}')],
    ['nothing', { content: '' }, Buffer.alloc(0)],
  ];
  for (const [path, parameters, bytes] of contents) {
    assert.equal((await as('developer').post(fileUrl(project, path), { ...onMain, ...parameters })).status, 201, path);
    const read = await as('reporter').get(fileUrl(project, path), { ref: 'main' });
    assert.equal(sha256(Buffer.from(read.body.content, 'base64')), sha256(bytes), path);
    assert.equal(read.body.content_sha256, sha256(bytes));
    assert.equal(read.body.size, bytes.length);
    assert.equal(sha256(await readBlob(repositoryIn(place), read.body.blob_id)), sha256(bytes));
    const raw = await fetch(`${place.url}/api/v4${fileUrl(project, path)}/raw`, {
      headers: { 'private-token': as('reporter').token! },
    });
    assert.equal(sha256(Buffer.from(await raw.arrayBuffer())), sha256(bytes), path);
    assert.equal(raw.headers.get('content-length'), String(bytes.length));
  }
});

test('a body may be a form, as the Ruby client sends it', async () => {
  const { as, project } = await filled();
  const form = new URLSearchParams({
    ...onMain,
    content: `${Buffer.from('from a form').toString('base64')}\n`,
    encoding: 'base64',
  });
  const url = fileUrl(project, 'form');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await as('developer').post(url, undefined, { headers, raw: form.toString() })).status, 201);
  assert.equal((await as('reporter').get(`${url}/raw`)).body, 'from a form');
  const removal = new URLSearchParams(onMain).toString();
  assert.equal((await as('developer').delete(url, undefined, { headers, raw: removal })).status, 204);
});

test('a body may come in parts; a part that is too long is refused whole, not cut', async () => {
  const place = await filled();
  const { as, project } = place;
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...onMain, content: 'as multipart' })) form.set(name, value);
  assert.equal((await as('developer').post(fileUrl(project, 'parts'), undefined, { raw: form })).status, 201);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'parts')}/raw`)).body, 'as multipart');
  const head = await headOf(place);
  form.set('content', 'x'.repeat(64 * 1024 * 1024 + 1));
  assert.equal((await as('developer').put(fileUrl(project, 'parts'), undefined, { raw: form })).status, 400);
  assert.equal(await headOf(place), head);
});

test('more than five large files a minute are refused as JSON, while their bytes stay to be had', async () => {
  const { as, project } = await filled();
  const large = fileUrl(project, 'large');
  const content = Buffer.alloc(10 * 1024 * 1024 + 1).toString('base64');
  assert.equal((await as('developer').post(large, { ...onMain, content, encoding: 'base64' })).status, 201);
  for (let times = 0; times < 5; times++) assert.equal((await as('reporter').get(large, { ref: 'main' })).status, 200);
  const refused = await as('reporter').get(large, { ref: 'main' });
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.body, {
    message: {
      error:
        'The requested blob is over the threshold size of 10485760.\n' +
        "Access this blob using '/projects/:id/repository/files/:file_path/raw' to avoid this error.\n",
    },
  });
  assert.equal((await as('reporter').get(`${large}/raw`)).status, 200);
  assert.equal((await as('reporter').head(large, { ref: 'main' })).status, 200);
  assert.equal((await as('reporter').get(fileUrl(project, 'README.md'), { ref: 'main' })).status, 200);
});

test('raw content has a type that no browser runs', async () => {
  const { as, project } = await filled();
  const samples: [string, Buffer, string][] = [
    ['page.html', Buffer.from('<script>alert(1)</script>'), 'text/plain; charset=utf-8'],
    ['image.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'text/plain; charset=utf-8'],
    ['image.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), 'image/png'],
    ['photo', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF', 'latin1'), 'image/jpeg'],
    ['a.webp', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1'), 'image/webp'],
    ['a.pdf', Buffer.from('%PDF-1.7\n'), 'application/pdf'],
    ['noise.txt', Buffer.from([0, 1, 2, 255]), 'application/octet-stream'],
    ['latin1.txt', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'application/octet-stream'],
    ['empty', Buffer.alloc(0), 'text/plain; charset=utf-8'],
  ];
  for (const [path, bytes, type] of samples) {
    await as('developer').post(fileUrl(project, path), { ...onMain, content: bytes.toString('base64'), encoding: 'base64' });
    const raw = await as('reporter').get(`${fileUrl(project, path)}/raw`);
    assert.equal(raw.headers.get('content-type'), type, path);
    assert.equal(raw.headers.get('x-content-type-options'), 'nosniff');
  }
  const quoted = 'a"b\\ü.txt';
  await as('developer').post(fileUrl(project, quoted), { ...onMain, content: 'x' });
  const raw = await as('reporter').get(`${fileUrl(project, quoted)}/raw`);
  assert.equal(raw.headers.get('content-disposition'), `inline; filename="a_b__.txt"; filename*=UTF-8''a%22b%5C%C3%BC.txt`);
  assert.equal(Buffer.from(raw.headers.get('x-gitlab-file-name')!, 'latin1').toString(), quoted);
});

test('a pointer to a large file that is not there is not found, and any other file is itself', async () => {
  const { as, project } = await filled();
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize 12345\n`;
  await as('developer').post(fileUrl(project, 'movie'), { ...onMain, content: pointer });
  assert.equal((await as('reporter').get(`${fileUrl(project, 'movie')}/raw`)).body, pointer);
  const missing = await as('reporter').get(`${fileUrl(project, 'movie')}/raw`, { lfs: true });
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Not Found' }]);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'README.md')}/raw`, { lfs: true })).body, 'one\ntwo\n');
});

test('the executable bit is set, kept by an update that leaves it out, and cleared', async () => {
  const { as, project } = await filled();
  const url = fileUrl(project, 'run.sh');
  const isExecutable = async () => (await as('reporter').get(url, { ref: 'main' })).body.execute_filemode;
  await as('developer').post(url, { ...onMain, content: 'a', execute_filemode: true });
  assert.equal(await isExecutable(), true);
  assert.equal((await as('reporter').head(url, { ref: 'main' })).headers.get('x-gitlab-execute-filemode'), 'true');
  await as('developer').put(url, { ...onMain, content: 'b' });
  assert.equal(await isExecutable(), true);
  await as('developer').put(url, { ...onMain, content: 'b', execute_filemode: false });
  assert.equal(await isExecutable(), false);
});

test('links are shown and changed as what they are, and neither they nor submodules are followed', async () => {
  const place = await filled();
  const { as, project } = place;
  const { run, folder } = await gitClient();
  const remote = remoteOf(place.url, project.full_path, place.people.developer.token);
  await run(['clone', '-q', remote, 'work']);
  await symlink('/etc/passwd', path.join(folder, 'work/link'));
  await run(['add', 'link'], { at: 'work' });
  await run(['update-index', '--add', '--cacheinfo', `160000,${await headOf(place)},module`], { at: 'work' });
  await run(['commit', '-q', '-m', 'Tricks'], { at: 'work' });
  assert.equal((await run(['push', '-q', 'origin', 'HEAD:tricks'], { at: 'work' })).code, 0);

  const link = await as('reporter').get(fileUrl(project, 'link'), { ref: 'tricks' });
  assert.equal(Buffer.from(link.body.content, 'base64').toString(), '/etc/passwd');
  assert.equal(link.body.execute_filemode, false);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'link')}/raw`, { ref: 'tricks' })).body, '/etc/passwd');
  for (const path of ['module', 'module/x', 'link/x']) {
    const missing = await as('reporter').get(fileUrl(project, path), { ref: 'tricks' });
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 File Not Found' }], path);
  }

  const onTricks = { branch: 'tricks', commit_message: 'x' };
  const head = await headOf(place, 'tricks');
  for (const [method, path] of [
    ['put', 'module'],
    ['delete', 'module'],
    ['post', 'module'],
    ['post', 'module/x'],
    ['post', 'link/x'],
  ] as const) {
    assert.equal(
      (await as('developer')[method](fileUrl(project, path), { ...onTricks, content: 'x' })).status,
      400,
      `${method} ${path}`,
    );
  }
  assert.equal(await headOf(place, 'tricks'), head);
  const changed = await as('developer').put(fileUrl(project, 'link'), {
    ...onTricks,
    content: 'README.md',
    execute_filemode: false,
  });
  assert.equal(changed.status, 200);
  const entry = await entryAt(repositoryIn(place), (await headOf(place, 'tricks'))!, 'link');
  assert.equal(entry?.type, 'symlink');
});

test('blame groups the lines of a commit, and a range shows a part of them', async () => {
  const { as, project, people } = await filled();
  const url = `${fileUrl(project, 'README.md')}/blame`;
  await as('developer').put(fileUrl(project, 'README.md'), {
    ...onMain,
    commit_message: 'Add three',
    content: 'one\ntwo\nthree',
  });
  const blamed = await as('reporter').get(url, { ref: 'main' });
  assert.deepEqual(
    blamed.body.map(({ lines, commit }: { lines: string[]; commit: { message: string } }) => [commit.message, lines]),
    [
      ['Change a file', ['one', 'two']],
      ['Add three', ['three']],
    ],
  );
  const { commit } = blamed.body[1];
  assert.deepEqual(Object.keys(commit).toSorted(), [
    'author_email',
    'author_name',
    'authored_date',
    'committed_date',
    'committer_email',
    'committer_name',
    'id',
    'message',
    'parent_ids',
  ]);
  assert.equal(commit.author_email, `${people.developer.username}@example.com`);
  assert.deepEqual(commit.parent_ids, [blamed.body[0].commit.id]);

  const part = await as('reporter').get(url, { ref: 'main', range: { start: 2, end: 3 } });
  assert.deepEqual(
    part.body.map(({ lines }: { lines: string[] }) => lines),
    [['two'], ['three']],
  );
  const reversed = await as('reporter').get(url, { ref: 'main', range: { start: 3, end: 2 } });
  assert.deepEqual([reversed.status, reversed.body.message], [400, 'range[start] must be less than or equal to range[end]']);
  const outside = await as('reporter').get(url, { ref: 'main', range: { start: 4, end: 9 } });
  assert.deepEqual([outside.status, outside.body.message], [400, 'range is outside of the bounds of the blob']);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'absent')}/blame`, { ref: 'main' })).status, 404);
});

test('an edit of a file that somebody else has changed is refused, and one that knows of the change is not', async () => {
  const place = await filled();
  const { as, project } = place;
  const url = fileUrl(project, 'README.md');
  const seen = (await as('reporter').get(url, { ref: 'main' })).body.last_commit_id;
  await as('developer').post(fileUrl(project, 'other'), { ...onMain, content: 'x' });
  assert.equal((await as('developer').put(url, { ...onMain, content: 'mine', last_commit_id: seen })).status, 200);
  const head = await headOf(place);
  const late = await as('developer').put(url, { ...onMain, content: 'late', last_commit_id: seen });
  assert.equal(late.status, 400);
  assert.equal((await as('developer').delete(url, { ...onMain, last_commit_id: seen })).status, 400);
  assert.equal(await headOf(place), head);
  const now = (await as('reporter').get(url, { ref: 'main' })).body.last_commit_id;
  assert.equal((await as('developer').delete(url, { ...onMain, last_commit_id: now })).status, 204);
});

test('of edits at the same time every one that is confirmed is in the history', async () => {
  const place = await filled();
  const { as, project } = place;
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, number) =>
      as('developer').post(fileUrl(project, `file${number}`), { ...onMain, content: 'x' }),
    ),
  );
  const created = answers.filter(({ status }) => status === 201);
  assert.ok(created.length > 0);
  for (const { status, body } of answers) {
    if (status !== 201)
      assert.deepEqual([status, body], [400, { message: 'Could not update refs/heads/main. Please refresh and try again.' }]);
  }
  for (const { body } of created)
    assert.equal((await as('reporter').get(fileUrl(project, body.file_path), { ref: 'main' })).status, 200);
  const commits = await as('reporter').get(`/projects/${project.id}/repository/commits`);
  assert.equal(commits.body.length, created.length + 1);
  assert.deepEqual(
    await place.db.selectFrom('reference_updates').select('id').where('project_id', '=', project.id).execute(),
    [],
  );
});

test('who may read files and who may write them', async () => {
  const place = await filled();
  const { as, project, db } = place;
  const url = fileUrl(project, 'README.md');
  const head = await headOf(place);
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
  assert.equal((await as('developer').put(url, { ...onMain, content: 'x' })).status, 403);
  await db.updateTable('projects').set({ repository_access_level: 'disabled' }).where('id', '=', project.id).execute();
  assert.deepEqual((await as('developer').get(url, { ref: 'main' })).body, { message: '404 Repository Not Found' });
  assert.equal(await headOf(place), head);
});

test('a token that may only read repositories reads files and writes none', async () => {
  const place = await filled();
  const { as, project, db, people } = place;
  const url = fileUrl(project, 'README.md');
  await db
    .updateTable('personal_access_tokens')
    .set({ scopes: ['read_repository'] })
    .where('user_id', '=', people.developer.id)
    .execute();
  assert.equal((await as('developer').get(url, { ref: 'main' })).status, 200);
  assert.equal((await as('developer').get(`${url}/raw`)).status, 200);
  const refused = await as('developer').put(url, { ...onMain, content: 'x' });
  assert.equal(refused.status, 403);
  assert.equal(refused.body.error, 'insufficient_scope');
});
