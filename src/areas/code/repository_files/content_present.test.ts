import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { fileUrl, filledWorld, headOf, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { world } from '../../../../test/support/world.ts';
import { entryAt, readBlob, updateRefs } from '../../../git/index.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

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

test('a path whose dots are escaped too is the same path, and cannot leave the repository', async () => {
  const { as, project, url, people } = await filledWorld();
  const files = `/api/v4/projects/${project.id}/repository/files`;
  const read = await rawGet(url, `${files}/README%2Emd?ref=main`, people.reporter.token);
  assert.equal(JSON.parse(read.body).file_path, 'README.md');
  for (const path of ['%2E%2E', '%2e%2e%2f%2e%2e%2fconfig', 'x%2F..%2F..%2Fconfig', '..%5Cconfig']) {
    const refused = await rawGet(url, `${files}/${path}?ref=main`, people.reporter.token);
    assert.deepEqual(
      [refused.status, JSON.parse(refused.body).message],
      [400, 'file_path should be a valid file path'],
      path,
    );
  }
  assert.equal((await as('reporter').get(`${fileUrl(project, '.')}`, { ref: 'main' })).status, 404);
});

test('unusual file names work like any other', async () => {
  const here = await filledWorld();
  const { as, project } = here;
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
    const created = await as('maintainer').post(fileUrl(project, name), { ...onMain, content: `in ${name}` });
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

test('a ref is a branch, a tag, a commit id or its prefix; a tag wins over a branch of the same name', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const repository = repositoryIn(here);
  const first = (await headOf(here))!;
  await as('maintainer').put(fileUrl(project, 'README.md'), { ...onMain, content: 'newer' });
  await updateRefs(repository, [
    { ref: 'refs/tags/both', old: null, new: first },
    { ref: 'refs/heads/both', old: null, new: (await headOf(here))! },
  ]);
  for (const ref of ['both', first, first.slice(0, 8), 'refs/tags/both']) {
    const read = await as('reporter').get(fileUrl(project, 'README.md'), { ref });
    assert.equal(read.body.commit_id, first, ref);
    assert.equal(read.body.ref, ref);
  }
  assert.notEqual(
    (await as('reporter').get(fileUrl(project, 'README.md'), { ref: 'refs/heads/both' })).body.commit_id,
    first,
  );
  for (const ref of ['absent', 'main~1', 'main:README.md', '--all', 'HEAD^{/x}', '0000000', 'ünknown']) {
    const missing = await as('reporter').get(fileUrl(project, 'README.md'), { ref });
    assert.equal(missing.status, 404, ref);
    assert.deepEqual(missing.body, { message: '404 Commit Not Found' });
    const head = await as('reporter').head(fileUrl(project, 'README.md'), { ref });
    assert.deepEqual([head.status, head.body], [404, null]);
  }
});

test('an empty repository has no commit to read from', async () => {
  const { as, project } = await world();
  for (const path of ['', '/raw', '/blame']) {
    const missing = await as('reporter').get(`${fileUrl(project, 'a')}${path}`, { ref: 'main' });
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 Commit Not Found' }]);
  }
  assert.equal((await as('reporter').get(`${fileUrl(project, 'a')}/raw`)).status, 404);
});

test('content of up to ten megabytes and in any encoding is returned unchanged', async () => {
  const here = await filledWorld();
  const { as, project } = here;
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
    assert.equal((await as('maintainer').post(fileUrl(project, path), { ...onMain, ...parameters })).status, 201, path);
    const read = await as('reporter').get(fileUrl(project, path), { ref: 'main' });
    assert.equal(sha256(Buffer.from(read.body.content, 'base64')), sha256(bytes), path);
    assert.equal(read.body.content_sha256, sha256(bytes));
    assert.equal(read.body.size, bytes.length);
    assert.equal(sha256(await readBlob(repositoryIn(here), read.body.blob_id)), sha256(bytes));
    const raw = await fetch(`${here.url}/api/v4${fileUrl(project, path)}/raw`, {
      headers: { 'private-token': as('reporter').token! },
    });
    assert.equal(sha256(Buffer.from(await raw.arrayBuffer())), sha256(bytes), path);
    assert.equal(raw.headers.get('content-length'), String(bytes.length));
  }
});

test('the sixth large file in a minute is refused as JSON, but still available as raw bytes', async () => {
  const { as, project } = await filledWorld();
  const large = fileUrl(project, 'large');
  const content = Buffer.alloc(10 * 1024 * 1024 + 1).toString('base64');
  assert.equal((await as('maintainer').post(large, { ...onMain, content, encoding: 'base64' })).status, 201);
  for (let times = 0; times < 5; times++) assert.equal((await as('reporter').get(large, { ref: 'main' })).status, 200);
  const refused = await as('reporter').get(large, { ref: 'main' });
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.body, {
    message:
      'The requested blob is over the threshold size of 10485760.\n' +
      "Access this blob using '/projects/:id/repository/files/:file_path/raw' to avoid this error.\n",
  });
  assert.equal((await as('reporter').get(`${large}/raw`)).status, 200);
  assert.equal((await as('reporter').head(large, { ref: 'main' })).status, 200);
  assert.equal((await as('reporter').get(fileUrl(project, 'README.md'), { ref: 'main' })).status, 200);
});

test('raw content has a type that no browser executes', async () => {
  const { as, project } = await filledWorld();
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
    await as('maintainer').post(fileUrl(project, path), {
      ...onMain,
      content: bytes.toString('base64'),
      encoding: 'base64',
    });
    const raw = await as('reporter').get(`${fileUrl(project, path)}/raw`);
    assert.equal(raw.headers.get('content-type'), type, path);
    assert.equal(raw.headers.get('x-content-type-options'), 'nosniff');
  }
  const quoted = 'a"b\\ü.txt';
  await as('maintainer').post(fileUrl(project, quoted), { ...onMain, content: 'x' });
  const raw = await as('reporter').get(`${fileUrl(project, quoted)}/raw`);
  assert.equal(
    raw.headers.get('content-disposition'),
    `inline; filename="a_b__.txt"; filename*=UTF-8''a%22b%5C%C3%BC.txt`,
  );
  assert.equal(Buffer.from(raw.headers.get('x-gitlab-file-name')!, 'latin1').toString(), quoted);
});

test('a pointer to a missing large file is not found, and other files are returned as they are', async () => {
  const { as, project } = await filledWorld();
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize 12345\n`;
  await as('maintainer').post(fileUrl(project, 'movie'), { ...onMain, content: pointer });
  assert.equal((await as('reporter').get(`${fileUrl(project, 'movie')}/raw`)).body, pointer);
  const missing = await as('reporter').get(`${fileUrl(project, 'movie')}/raw`, { lfs: true });
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Not Found' }]);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'README.md')}/raw`, { lfs: true })).body, 'one\ntwo\n');
});

test('symbolic links are read and written as links, and neither links nor submodules are followed', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const { run, folder } = await gitClient();
  const remote = remoteOf(here.url, project.full_path, here.people.maintainer.token);
  await run(['clone', '-q', remote, 'work']);
  await symlink('/etc/passwd', path.join(folder, 'work/link'));
  await run(['add', 'link'], { at: 'work' });
  await run(['update-index', '--add', '--cacheinfo', `160000,${await headOf(here)},module`], { at: 'work' });
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
  const head = await headOf(here, 'tricks');
  for (const [method, path] of [
    ['put', 'module'],
    ['delete', 'module'],
    ['post', 'module'],
    ['post', 'module/x'],
    ['post', 'link/x'],
  ] as const) {
    assert.equal(
      (await as('maintainer')[method](fileUrl(project, path), { ...onTricks, content: 'x' })).status,
      400,
      `${method} ${path}`,
    );
  }
  assert.equal(await headOf(here, 'tricks'), head);
  const changed = await as('maintainer').put(fileUrl(project, 'link'), {
    ...onTricks,
    content: 'README.md',
    execute_filemode: false,
  });
  assert.equal(changed.status, 200);
  const entry = await entryAt(repositoryIn(here), (await headOf(here, 'tricks'))!, 'link');
  assert.equal(entry?.type, 'symlink');
});

test('blame groups lines by commit, and a range limits them', async () => {
  const { as, project, people } = await filledWorld();
  const url = `${fileUrl(project, 'README.md')}/blame`;
  await as('maintainer').put(fileUrl(project, 'README.md'), {
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
  assert.equal(commit.author_email, `${people.maintainer.username}@example.com`);
  assert.deepEqual(commit.parent_ids, [blamed.body[0].commit.id]);

  const part = await as('reporter').get(url, { ref: 'main', range: { start: 2, end: 3 } });
  assert.deepEqual(
    part.body.map(({ lines }: { lines: string[] }) => lines),
    [['two'], ['three']],
  );
  const reversed = await as('reporter').get(url, { ref: 'main', range: { start: 3, end: 2 } });
  assert.deepEqual(
    [reversed.status, reversed.body.message],
    [400, 'range[start] must be less than or equal to range[end]'],
  );
  const outside = await as('reporter').get(url, { ref: 'main', range: { start: 4, end: 9 } });
  assert.deepEqual([outside.status, outside.body.message], [400, 'range is outside of the bounds of the blob']);
  assert.equal((await as('reporter').get(`${fileUrl(project, 'absent')}/blame`, { ref: 'main' })).status, 404);
});
