import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, updateRefs, writeCommit } from '../../git/index.ts';
import { repositoryIn } from '../../testing/repository.ts';
import { type World, world } from '../../testing/world.ts';

const ada = { name: 'Ada', email: 'ada@example.com', date: new Date('2025-01-01T00:00:00Z') };
const put = (path: string, text: string | Buffer): Change => ({ op: 'put', path, mode: '100644', content: Buffer.from(text) });
const paths = (body: { path: string }[]) => body.map(({ path }) => path);

/** `main` with files at the top and in folders. */
async function filled(): Promise<World & { tree: string; commit: string }> {
  const place = await world();
  const repository = repositoryIn(place);
  const changes = [put('README.md', 'hello\n'), put('docs/deep/guide', 'x'), put('docs/index', 'y'), put('a b/*', 'z')];
  const { id } = await writeCommit(repository, { parent: null, message: 'First', author: ada, committer: ada, changes });
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: null, new: id }]);
  return { ...place, tree: `/projects/${place.project.id}/repository/tree`, commit: id };
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
  for (const parameters of [{ path: 'docs' }, { path: '/docs/', ref: commit }, { path: 'docs', ref: 'refs/heads/main' }])
    assert.deepEqual(paths((await as('reporter').get(tree, parameters)).body), ['docs/deep', 'docs/index']);
  assert.deepEqual(paths((await as('reporter').get(tree, { path: 'docs', recursive: true })).body), [
    'docs/deep',
    'docs/deep/guide',
    'docs/index',
  ]);
});

test('all that is below a folder comes in pages by number, by token, or at once', async () => {
  const { as, tree, url } = await filled();
  const all = ['a b', 'docs', 'docs/deep', 'README.md', 'a b/*', 'docs/deep/guide', 'docs/index'];
  const whole = await as('reporter').get(tree, { recursive: true, pagination: 'none', per_page: 2 });
  assert.deepEqual(paths(whole.body), all);
  assert.equal(whole.headers.get('x-total'), null);
  assert.deepEqual(paths((await as('reporter').get(tree, { recursive: true, per_page: 3, page: 2 })).body), all.slice(3, 6));

  const seen: string[] = [];
  let next: string | undefined = `${url}/api/v4${tree}?recursive=true&pagination=keyset&per_page=3`;
  while (next) {
    const page: Response = await fetch(next, { headers: { 'private-token': as('reporter').token! } });
    seen.push(...paths((await page.json()) as { path: string }[]));
    assert.equal(page.headers.get('x-page'), null);
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
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

test('what is no folder, no reference or nobody else’s business is not listed', async () => {
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
