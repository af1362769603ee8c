import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { updateRefs, writeCommit } from '../../../../git/index.ts';

const titles = (body: { title: string }[]) => body.map(({ title }) => title);

const authors = [
  { name: 'Ada Lovelace', email: 'ada@example.com' },
  { name: 'Grace Hopper', email: 'grace@example.org' },
];

/** `main` with five commits, a day apart, by two authors in turn; the last one also on the branch `side`. */
async function filled(): Promise<World & { ids: string[]; commits: string }> {
  const here = await world();
  const repository = repositoryIn(here);
  const ids: string[] = [];
  for (let number = 1; number <= 5; number++) {
    const person = { ...authors[number % 2]!, date: new Date(Date.UTC(2025, 0, number)) };
    const { id } = await writeCommit(repository, {
      parent: ids.at(-1) ?? null,
      message: `Commit ${number}\n\nWith a body.\n\nSigned-off-by: Ada <ada@example.com>\n`,
      author: person,
      committer: person,
      changes: [
        { op: 'put', path: number === 3 ? 'docs/three' : 'file', mode: '100644', content: Buffer.from(`${number}\n`) },
      ],
    });
    ids.push(id);
  }
  await updateRefs(repository, [
    { ref: 'refs/heads/main', old: null, new: ids[3]! },
    { ref: 'refs/heads/side', old: null, new: ids[4]! },
  ]);
  return { ...here, ids, commits: `/projects/${here.project.id}/repository/commits` };
}

test('a commit is shown with its author, committer, trailers and statistics', async () => {
  const { as, ids, commits, project, services } = await filled();
  const shown = await as('reporter').get(`${commits}/${ids[1]}`);
  assert.equal(shown.status, 200);
  assert.deepEqual(shown.body, {
    id: ids[1],
    short_id: ids[1]!.slice(0, 8),
    created_at: '2025-01-02T00:00:00.000Z',
    parent_ids: [ids[0]],
    title: 'Commit 2',
    message: 'Commit 2\n\nWith a body.\n\nSigned-off-by: Ada <ada@example.com>\n',
    author_name: 'Ada Lovelace',
    author_email: 'ada@example.com',
    authored_date: '2025-01-02T00:00:00.000Z',
    committer_name: 'Ada Lovelace',
    committer_email: 'ada@example.com',
    committed_date: '2025-01-02T00:00:00.000Z',
    trailers: { 'Signed-off-by': 'Ada <ada@example.com>' },
    extended_trailers: { 'Signed-off-by': ['Ada <ada@example.com>'] },
    web_url: `${services.url}/${project.full_path}/-/commit/${ids[1]}`,
    stats: { additions: 1, deletions: 1, total: 2 },
    status: null,
    project_id: project.id,
    last_pipeline: null,
  });
  const { stats: _, ...plain } = shown.body;
  assert.deepEqual((await as('reporter').get(`${commits}/${ids[1]}`, { stats: false })).body, plain);
  for (const name of ['side', 'refs/heads/side', ids[4]!.slice(0, 7)])
    assert.equal((await as('reporter').get(`${commits}/${encodeURIComponent(name)}`)).body.id, ids[4]);
  for (const name of ['absent', 'f'.repeat(40), 'main~1', '--all']) {
    const missing = await as('reporter').get(`${commits}/${name}`);
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 Commit Not Found' }], name);
  }
});

test('commits are listed newest first, and filtered', async () => {
  const { as, commits } = await filled();
  const listed = async (parameters: object = {}) => titles((await as('reporter').get(commits, { ...parameters })).body);
  assert.deepEqual(await listed(), ['Commit 4', 'Commit 3', 'Commit 2', 'Commit 1']);
  assert.deepEqual(await listed({ ref_name: 'side', per_page: 1 }), ['Commit 5']);
  assert.deepEqual((await listed({ all: true })).length, 5);
  assert.deepEqual(await listed({ path: 'docs' }), ['Commit 3']);
  assert.deepEqual(await listed({ path: '/docs/three/' }), ['Commit 3']);
  assert.deepEqual(await listed({ author: 'GRACE' }), []);
  assert.deepEqual(await listed({ author: 'Grace' }), ['Commit 3', 'Commit 1']);
  assert.deepEqual(await listed({ author: 'ada@example' }), ['Commit 4', 'Commit 2']);
  assert.deepEqual(await listed({ since: '2025-01-02T12:00:00Z', until: '2025-01-03T12:00:00Z' }), ['Commit 3']);
  assert.deepEqual(await listed({ first_parent: true, order: 'topo' }), [
    'Commit 4',
    'Commit 3',
    'Commit 2',
    'Commit 1',
  ]);
  for (const nothing of [{ ref_name: 'absent' }, { path: '../../etc' }, { path: 'absent' }, { page: 900_000_000 }])
    assert.deepEqual(await listed(nothing), []);
  for (const [parameters, message] of [
    [{ ref_name: 'main..side' }, 'ref_name is invalid'],
    [{ ref_name: '--all' }, 'ref_name is invalid'],
    [{ since: 'yesterday' }, 'since is invalid'],
    [{ order: 'date' }, 'order does not have a valid value'],
    [{ per_page: 0 }, 'per_page does not have a valid value'],
  ] as const) {
    const refused = await as('reporter').get(commits, parameters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
});

test('a page of commits has no totals, and links to the next one', async () => {
  const { as, commits } = await filled();
  const first = await as('reporter').get(commits, { per_page: 3 });
  assert.deepEqual(titles(first.body), ['Commit 4', 'Commit 3', 'Commit 2']);
  assert.deepEqual(
    [first.headers.get('x-next-page'), first.headers.get('x-total'), first.headers.get('x-total-pages')],
    ['2', null, null],
  );
  assert.match(first.headers.get('link') ?? '', /rel="next"/);
  assert.doesNotMatch(first.headers.get('link') ?? '', /rel="last"/);
  const last = await as('reporter').get(commits, { per_page: 3, page: 2 });
  assert.deepEqual(titles(last.body), ['Commit 1']);
  assert.equal(last.headers.get('x-next-page'), '');
});

test('statistics and trailers are returned on request', async () => {
  const { as, commits } = await filled();
  const [plain] = (await as('reporter').get(commits)).body;
  assert.deepEqual([plain.stats, plain.trailers, plain.extended_trailers], [undefined, {}, {}]);
  const [full] = (await as('reporter').get(commits, { with_stats: true, trailers: true })).body;
  assert.deepEqual(full.stats, { additions: 1, deletions: 1, total: 2 });
  assert.deepEqual(full.trailers, { 'Signed-off-by': 'Ada <ada@example.com>' });
});

test('an empty repository has no commits, and a hidden project is not found', async () => {
  const { as, project } = await world();
  const commits = `/projects/${project.id}/repository/commits`;
  assert.deepEqual((await as('reporter').get(commits)).body, []);
  assert.deepEqual((await as('reporter').get(commits, { all: true })).body, []);
  assert.equal((await as('reporter').get(`${commits}/main`)).status, 404);
  assert.equal((await as('guest').get(commits)).status, 403);
  assert.deepEqual((await as('outsider').get(commits)).body, { message: '404 Project Not Found' });
});
