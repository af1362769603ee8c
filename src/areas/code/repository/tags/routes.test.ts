import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pagesFrom } from '../../../../../test/support/client.ts';
import { repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { git, updateRefs, writeCommit } from '../../../../git/index.ts';

const names = (body: { name: string }[]) => body.map(({ name }) => name);

/** `main` with three commits, a day apart. */
async function filled(): Promise<World & { ids: string[]; tags: string }> {
  const here = await world();
  const ids: string[] = [];
  for (let number = 1; number <= 3; number++) {
    const person = { name: 'Ada', email: 'ada@example.com', date: new Date(Date.UTC(2025, 0, number)) };
    const { id } = await writeCommit(repositoryIn(here), {
      parent: ids.at(-1) ?? null,
      message: `Commit ${number}`,
      author: person,
      committer: person,
      changes: [{ op: 'put', path: 'file', mode: '100644', content: Buffer.from(`${number}\n`) }],
    });
    ids.push(id);
  }
  await updateRefs(repositoryIn(here), [{ ref: 'refs/heads/main', old: null, new: ids[2]! }]);
  return { ...here, ids, tags: `/projects/${here.project.id}/repository/tags` };
}

test('a lightweight tag is created, shown and deleted', async () => {
  const { as, tags, ids } = await filled();
  const created = await as('developer').post(tags, { tag_name: 'v1/rc', ref: 'main' });
  assert.equal(created.status, 201);
  const { commit, ...tag } = created.body;
  assert.deepEqual(tag, {
    name: 'v1/rc',
    message: null,
    target: ids[2],
    release: null,
    protected: false,
    created_at: null,
  });
  assert.equal(commit.id, ids[2]);
  const one = `${tags}/${encodeURIComponent('v1/rc')}`;
  assert.deepEqual((await as('reporter').get(one)).body, created.body);
  assert.deepEqual((await as('reporter').get(tags)).body, [created.body]);
  const unsigned = await as('reporter').get(`${one}/signature`);
  assert.deepEqual([unsigned.status, unsigned.body], [404, { message: '404 Signature Not Found' }]);

  assert.equal((await as('developer').delete(one)).status, 204);
  for (const path of [one, `${one}/signature`]) {
    const gone = await as('reporter').get(path);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Tag Not Found' }]);
  }
  assert.equal((await as('developer').delete(one)).status, 404);
});

test('a message creates an annotated tag with its tagger and date', async () => {
  const here = await filled();
  const { as, tags, ids, people } = here;
  const created = await as('developer').post(tags, {
    tag_name: 'v1',
    ref: ids[0],
    message: 'First release\n\nAt last.\n',
  });
  assert.equal(created.status, 201);
  assert.equal(created.body.message, 'First release\n\nAt last.');
  assert.notEqual(created.body.target, ids[0]);
  assert.equal(created.body.commit.id, ids[0]);
  assert.match(created.body.created_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  const object = (await git(repositoryIn(here), 'cat-file', ['-p'], [created.body.target])).toString();
  assert.match(
    object,
    new RegExp(`^object ${ids[0]}\ntype commit\ntag v1\ntagger .*<${people.developer.username}@example.com>`),
  );
  assert.equal((await as('reporter').get(`/projects/${here.project.id}/repository/commits/v1`)).body.id, ids[0]);
});

test('tags are ordered by date, name or version, searched by name, and paged', async () => {
  const { as, tags, ids } = await filled();
  for (const [tag_name, index] of [
    ['v1.10', 0],
    ['v1.9', 2],
    ['beta', 1],
  ] as const)
    await as('developer').post(tags, { tag_name, ref: ids[index] });
  const listed = async (parameters: Record<string, string | number> = {}) =>
    names((await as('reporter').get(tags, parameters)).body);
  assert.deepEqual(await listed(), ['v1.9', 'beta', 'v1.10']);
  assert.deepEqual(await listed({ sort: 'asc' }), ['v1.10', 'beta', 'v1.9']);
  assert.deepEqual(await listed({ order_by: 'name', sort: 'asc' }), ['beta', 'v1.10', 'v1.9']);
  assert.deepEqual(await listed({ order_by: 'version', sort: 'asc' }), ['beta', 'v1.9', 'v1.10']);
  assert.deepEqual(await listed({ search: '^V1' }), ['v1.9', 'v1.10']);
  assert.deepEqual(await listed({ search: '9$' }), ['v1.9']);
  assert.deepEqual(await listed({ per_page: 2, page: 2 }), ['v1.10']);

  const seen: string[] = [];
  for await (const page of pagesFrom(as('reporter'), `${tags}?pagination=keyset&per_page=2`))
    seen.push(...names(page.body));
  assert.deepEqual(seen, ['v1.9', 'beta', 'v1.10']);
  const refused = await as('reporter').get(tags, { page_token: 'absent' });
  assert.deepEqual([refused.status, refused.body.message], [422, 'page_token is invalid']);
});

test('a refused tag says why, and is not created', async () => {
  const { as, tags, ids } = await filled();
  await as('developer').post(tags, { tag_name: 'v1', ref: 'main' });
  const refusals: [object, string][] = [
    [{}, 'tag_name is missing, ref is missing'],
    [{ tag_name: 'v1', ref: 'main' }, 'Tag v1 already exists'],
    [{ tag_name: 'no..name', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: 'HEAD', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: '-option', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: '', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: 'x', ref: '' }, 'Target is empty'],
    [{ tag_name: 'x', ref: 'absent' }, 'Target absent is invalid'],
    [{ tag_name: 'x', ref: 'main~1' }, 'Target main~1 is invalid'],
    [{ tag_name: 'v1/x', ref: 'main' }, "Failed to create tag 'v1/x': Tag name conflicts with existing tag hierarchy."],
    [
      { tag_name: 'v1/x', ref: 'main', message: 'm' },
      "Failed to create tag 'v1/x': Tag name conflicts with existing tag hierarchy.",
    ],
  ];
  for (const [parameters, message] of refusals) {
    const refused = await as('developer').post(tags, { ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  for (const [persona, reading, writing] of [
    ['anonymous', 404, 401],
    ['outsider', 404, 404],
    ['guest', 403, 403],
    ['reporter', 200, 403],
  ] as const) {
    assert.equal((await as(persona).get(`${tags}/v1`)).status, reading, persona);
    assert.equal((await as(persona).post(tags, { tag_name: 'y', ref: 'main' })).status, writing, persona);
    assert.equal((await as(persona).delete(`${tags}/v1`)).status, writing, persona);
  }
  const early = { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:01 GMT' } };
  assert.equal((await as('developer').delete(`${tags}/v1`, {}, early)).status, 412);
  const [only, ...others] = (await as('reporter').get(tags)).body;
  assert.deepEqual([only.name, only.target, others], ['v1', ids[2], []]);
});

test('a tag of a blob has no commit, and is listed and deleted like any other', async () => {
  const here = await filled();
  const { as, tags } = here;
  const blob = (await git(repositoryIn(here), 'rev-parse', [], ['main:file'])).toString().trim().split('\n').at(-1)!;
  await updateRefs(repositoryIn(here), [{ ref: 'refs/tags/file', old: null, new: blob }]);
  const [tag] = (await as('reporter').get(tags)).body;
  assert.deepEqual([tag.name, tag.target, tag.commit], ['file', blob, null]);
  assert.equal((await as('developer').delete(`${tags}/file`)).status, 204);
});

test('a tag whose message is mostly empty lines is shown without those at its end', async () => {
  const here = await world();
  const repository = repositoryIn(here);
  const [blob] = String(await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input: 'content' })).split(
    '\n',
  );
  const message = `first${'\n'.repeat(500_000)}last`;
  const object = `object ${blob}\ntype blob\ntag sparse\ntagger A <a@example.com> 1700000000 +0000\n\n${message}\n\n`;
  const [tag] = String(
    await git(repository, 'hash-object', ['-ttag', '-w', '--stdin'], [], [], { input: object }),
  ).split('\n');
  await updateRefs(repository, [{ ref: 'refs/tags/sparse', old: null, new: tag! }]);
  const { status, body } = await here.as('reporter').get(`/projects/${here.project.id}/repository/tags/sparse`);
  assert.deepEqual([status, body.message === message], [200, true]);
});
