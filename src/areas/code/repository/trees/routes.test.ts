import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pagesFrom } from '../../../../../test/support/client.ts';
import { repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { type Change, git, type Repository, updateRefs, writeCommit } from '../../../../git/index.ts';

const ada = { name: 'Ada', email: 'ada@example.com', date: new Date('2025-01-01T00:00:00Z') };
const put = (path: string, text: string | Buffer): Change => ({
  op: 'put',
  path,
  mode: '100644',
  content: Buffer.from(text),
});
const author = {
  GIT_AUTHOR_NAME: ada.name,
  GIT_AUTHOR_EMAIL: ada.email,
  GIT_COMMITTER_NAME: ada.name,
  GIT_COMMITTER_EMAIL: ada.email,
};
const paths = (body: { path: string }[]) => body.map(({ path }) => path);

/** `main` with files at the top and in folders. */
async function filled(): Promise<World & { tree: string; commit: string }> {
  const here = await world();
  const repository = repositoryIn(here);
  const changes = [put('README.md', 'hello\n'), put('docs/deep/guide', 'x'), put('docs/index', 'y'), put('a b/*', 'z')];
  const { id } = await writeCommit(repository, {
    parent: null,
    message: 'First',
    author: ada,
    committer: ada,
    changes,
  });
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: null, new: id }]);
  return { ...here, tree: `/projects/${here.project.id}/repository/tree`, commit: id };
}

test('a folder lists its folders and files', async () => {
  const { as, tree, commit } = await filled();
  const top = await as('reporter').get(tree);
  assert.equal(top.status, 200);
  assert.deepEqual(paths(top.body), ['a b', 'docs', 'README.md']);
  assert.deepEqual(top.body[2], {
    id: 'ce013625030ba8dba906f756967f9e9ca394464a',
    name: 'README.md',
    type: 'blob',
    path: 'README.md',
    mode: '100644',
  });
  assert.deepEqual([top.body[0].type, top.body[0].mode], ['tree', '040000']);
  assert.equal(top.headers.get('x-total'), '3');
  for (const parameters of [
    { path: 'docs' },
    { path: '/docs/', ref: commit },
    { path: 'docs', ref: 'refs/heads/main' },
  ])
    assert.deepEqual(paths((await as('reporter').get(tree, parameters)).body), ['docs/deep', 'docs/index']);
  assert.deepEqual(paths((await as('reporter').get(tree, { path: 'docs', recursive: true })).body), [
    'docs/deep',
    'docs/deep/guide',
    'docs/index',
  ]);
});

test('a recursive listing is paged by number or by token, or returned whole', async () => {
  const { as, tree } = await filled();
  const all = ['a b', 'docs', 'docs/deep', 'README.md', 'a b/*', 'docs/deep/guide', 'docs/index'];
  const whole = await as('reporter').get(tree, { recursive: true, pagination: 'none', per_page: 2 });
  assert.deepEqual(paths(whole.body), all);
  assert.equal(whole.headers.get('x-total'), null);
  assert.deepEqual(
    paths((await as('reporter').get(tree, { recursive: true, per_page: 3, page: 2 })).body),
    all.slice(3, 6),
  );

  const seen: string[] = [];
  for await (const page of pagesFrom(as('reporter'), `${tree}?recursive=true&pagination=keyset&per_page=3`)) {
    seen.push(...paths(page.body));
    assert.equal(page.headers.get('x-page'), null);
  }
  assert.deepEqual(seen, all);
  for (const [parameters, message] of [
    [{ pagination: 'none' }, 'pagination cannot be "none" unless "recursive" is true'],
    [{ pagination: 'keyset', page_token: '§' }, 'page_token is invalid'],
    [{ pagination: 'other' }, 'pagination does not have a valid value'],
    [{ per_page: 0 }, 'per_page does not have a valid value'],
  ] as const) {
    const refused = await as('reporter').get(tree, parameters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
});

test('a path that is no folder, an unknown ref and a hidden project are not listed', async () => {
  const { as, tree, project } = await filled();
  for (const [parameters, message] of [
    [{ ref: 'absent' }, '404 Tree Not Found'],
    [{ ref: '--all' }, '404 Tree Not Found'],
    [{ path: 'absent' }, '404 invalid revision or path Not Found'],
    [{ path: 'README.md' }, '404 invalid revision or path Not Found'],
    [{ path: 'docs/../..' }, '404 invalid revision or path Not Found'],
    [{ path: '*', recursive: true }, '404 invalid revision or path Not Found'],
  ] as const) {
    const missing = await as('reporter').get(tree, parameters);
    assert.deepEqual([missing.status, missing.body], [404, { message }]);
  }
  assert.equal((await as('guest').get(tree)).status, 403);
  assert.equal((await as('outsider').get(tree)).status, 404);
  const empty = await world();
  const nothing = await empty.as('reporter').get(`/projects/${empty.project.id}/repository/tree`);
  assert.deepEqual([nothing.status, nothing.body], [404, { message: '404 Tree Not Found' }]);
  assert.equal((await as('reporter').get(`/projects/${project.id}/repository/tree`, { ref: '' })).status, 200);
});

/** A folder whose entries, numbered and all of them the same thing, are a thousand. */
async function thousand(repository: Repository, entry: string, name: string): Promise<string> {
  const rows = Array.from({ length: 1000 }, (_, number) => `${entry}\t${name}${String(number).padStart(3, '0')}\0`);
  return (await git(repository, 'mktree', ['-z'], [], [], { input: rows.join('') })).toString().trim();
}

test('a folder with a million files is listed page by page', async () => {
  const here = await world();
  const { as, project } = here;
  const repository = repositoryIn(here);
  const blob = (await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input: 'x' })).toString().trim();
  const long = 'n'.repeat(20);
  const folder = await thousand(repository, `100644 blob ${blob}`, long);
  const root = await thousand(repository, `040000 tree ${folder}`, 'd');
  const commit = (await git(repository, 'commit-tree', ['-mMany'], [root], [], { env: author })).toString().trim();
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: null, new: commit }]);
  const tree = `/projects/${project.id}/repository/tree`;
  const last = await as('reporter').get(tree, { recursive: true, page: 10_010, per_page: 100 });
  assert.equal(last.status, 200, JSON.stringify(last.body));
  assert.deepEqual(
    [last.body.length, last.body.at(-1).path, last.headers.get('x-next-page')],
    [100, `d999/${long}999`, ''],
  );
  const first = await as('reporter').get(tree, { recursive: true, pagination: 'keyset', per_page: 2 });
  assert.deepEqual(paths(first.body), ['d000', 'd001']);
  const [, token] = /page_token=([^&>]+)/.exec(first.headers.get('link') ?? '') ?? [];
  const next = await as('reporter').get(tree, {
    recursive: true,
    pagination: 'keyset',
    per_page: 2,
    page_token: token,
  });
  assert.deepEqual(paths(next.body), ['d002', 'd003']);
});
