import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { type Change, updateRefs, writeCommit } from '../../../../git/index.ts';

const put = (path: string, text: string): Change => ({ op: 'put', path, mode: '100644', content: Buffer.from(text) });

async function commit(here: World, parent: string | null, changes: Change[]): Promise<string> {
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date('2025-01-01T00:00:00Z') };
  return (
    await writeCommit(repositoryIn(here), { parent, message: 'A change', author: person, committer: person, changes })
  ).id;
}

const refs = (here: World, targets: Record<string, string>) =>
  updateRefs(
    repositoryIn(here),
    Object.entries(targets).map(([name, id]) => ({ ref: `refs/${name}`, old: null, new: id })),
  );

const commitsUrl = ({ project }: World) => `/projects/${project.id}/repository/commits`;

test('the diff of a commit is shown file by file', async () => {
  const here = await world();
  const { as } = here;
  const text = Array.from({ length: 9 }, (_, line) => `${line}\n`).join('');
  const first = await commit(here, null, [put('moved', text), put('gone', 'x\n'), put('run', 'r\n')]);
  const second = await commit(here, first, [
    { op: 'move', from: 'moved', path: 'to/moved', content: Buffer.from(`${text}9\n`) },
    { op: 'delete', path: 'gone' },
    { op: 'mode', path: 'run', mode: '100755' },
    put('long', `${'x'.repeat(300_000)}\n`),
  ]);
  await refs(here, { 'heads/main': second });
  const url = `${commitsUrl(here)}/main/diff`;
  const file = { collapsed: false, too_large: false, a_mode: '100644', b_mode: '100644', generated_file: false };
  const kind = { new_file: false, renamed_file: false, deleted_file: false };
  const shown = await as('reporter').get(url);
  assert.equal(shown.status, 200);
  assert.deepEqual(shown.body, [
    {
      ...file,
      ...kind,
      old_path: 'gone',
      new_path: 'gone',
      b_mode: '0',
      deleted_file: true,
      diff: '@@ -1 +0,0 @@\n-x\n',
    },
    { ...file, ...kind, old_path: 'long', new_path: 'long', a_mode: '0', new_file: true, too_large: true, diff: '' },
    { ...file, ...kind, old_path: 'run', new_path: 'run', b_mode: '100755', diff: '' },
    {
      ...file,
      ...kind,
      old_path: 'moved',
      new_path: 'to/moved',
      renamed_file: true,
      diff: '@@ -7,3 +7,4 @@\n 6\n 7\n 8\n+9\n',
    },
  ]);
  const page = await as('reporter').get(url, { per_page: 1, page: 4, unidiff: true });
  assert.deepEqual(
    page.body.map(({ diff }: { diff: string }) => diff),
    ['--- a/moved\n+++ b/to/moved\n@@ -7,3 +7,4 @@\n 6\n 7\n 8\n+9\n'],
  );
  assert.equal(page.headers.get('x-total'), '4');
  const root = (await as('reporter').get(`${commitsUrl(here)}/${first}/diff`)).body;
  assert.deepEqual(
    root.map((diff: { new_path: string; new_file: boolean }) => [diff.new_path, diff.new_file]),
    [
      ['gone', true],
      ['moved', true],
      ['run', true],
    ],
  );
});

test('a commit shows its sequence number, and the branches and tags that contain it', async () => {
  const here = await world();
  const { as } = here;
  const first = await commit(here, null, [put('a', '1')]);
  const second = await commit(here, first, [put('a', '2')]);
  await refs(here, { 'heads/main': second, 'heads/old/one': first, 'tags/v1': first });
  const url = commitsUrl(here);
  assert.deepEqual((await as('reporter').get(`${url}/main/sequence`)).body, { count: 2 });
  assert.deepEqual((await as('reporter').get(`${url}/${first}/sequence`, { first_parent: true })).body, { count: 1 });

  const [main, old, tag] = [
    { type: 'branch', name: 'main' },
    { type: 'branch', name: 'old/one' },
    { type: 'tag', name: 'v1' },
  ];
  const all = await as('reporter').get(`${url}/${first}/refs`);
  assert.deepEqual(all.body, [main, old, tag]);
  assert.equal(all.headers.get('x-total'), null);
  assert.deepEqual((await as('reporter').get(`${url}/${first}/refs`, { type: 'tag' })).body, [tag]);
  assert.deepEqual((await as('reporter').get(`${url}/${first}/refs`, { type: 'branch', per_page: 1, page: 2 })).body, [
    old,
  ]);
  assert.deepEqual((await as('reporter').get(`${url}/${second}/refs`)).body, [main]);
});

test('a missing or hidden commit has no details', async () => {
  const here = await world();
  const { as } = here;
  await refs(here, { 'heads/main': await commit(here, null, [put('a', '1')]) });
  const url = commitsUrl(here);
  for (const detail of ['diff', 'sequence', 'refs', 'signature']) {
    const missing = await as('reporter').get(`${url}/${'f'.repeat(40)}/${detail}`);
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 Commit Not Found' }], detail);
    assert.equal((await as('guest').get(`${url}/main/${detail}`)).status, 403, detail);
    assert.equal((await as('outsider').get(`${url}/main/${detail}`)).status, 404, detail);
  }
  const unsigned = await as('reporter').get(`${url}/main/signature`);
  assert.deepEqual([unsigned.status, unsigned.body], [404, { message: '404 Signature Not Found' }]);
});
