import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { indexCode, keepCodeIndex } from '../../code/code_search/index.ts';

let count = 0;
const newWord = () => `medlar_${process.pid}_${count++}`;

async function commit(here: World, actions: object[], branch = 'main'): Promise<void> {
  const { status, body } = await here
    .as('maintainer')
    .post(`/projects/${here.project.id}/repository/commits`, { branch, commit_message: 'Change files', actions });
  assert.equal(status, 201, JSON.stringify(body));
}

/** The paths and lines that a search of the group finds. */
async function found(here: World, search: string): Promise<[string, number[]][]> {
  const { status, body, headers } = await here
    .as('developer')
    .get(`/groups/${here.group.id}/search`, { scope: 'blobs', search, num_context_lines: 0 });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers.get('x-search-incomplete'), null);
  return body.map(({ path, match_lines }: { path: string; match_lines: number[] }) => [path, match_lines]);
}

const stateOf = async ({ db, project }: World) =>
  (
    await sql<{ is_stale: boolean; files: number }>`
      select is_stale, (select count(*) from code_files where project_id = code_indexes.project_id)::int as files
        from code_indexes where project_id = ${project.id}`.execute(db)
  ).rows[0];

test('the index follows the default branch, and gives the same results as git', async () => {
  const here = await filledWorld();
  const word = newWord();
  await commit(here, [
    { action: 'create', file_path: 'a.txt', content: `${word}\nother\n${word.toUpperCase()} too\n` },
    { action: 'create', file_path: `${word}.txt`, content: 'empty\n' },
    { action: 'create', file_path: 'binary', content: Buffer.from(`\0${word}`).toString('base64'), encoding: 'base64' },
  ]);
  const both: [string, number[]][] = [
    ['a.txt', [1]],
    ['a.txt', [3]],
    [`${word}.txt`, []],
  ];
  assert.equal((await stateOf(here))!.is_stale, true);
  assert.deepEqual(await found(here, word), both);
  await performQueued(here.services, [indexCode]);
  const { is_stale, files } = (await stateOf(here))!;
  assert.deepEqual([is_stale, files], [false, 4]);
  assert.deepEqual(await found(here, word), both);
  assert.deepEqual(await found(here, `${word} path:a.`), both.slice(0, 2));

  await commit(here, [
    { action: 'update', file_path: 'a.txt', content: 'nothing here\n' },
    { action: 'move', previous_path: `${word}.txt`, file_path: 'moved.txt' },
    { action: 'create', file_path: 'b/c.txt', content: `${word}\n` },
  ]);
  const changed: [string, number[]][] = [['b/c.txt', [1]]];
  assert.deepEqual(await found(here, word), changed);
  await performQueued(here.services, [indexCode]);
  assert.equal((await stateOf(here))!.is_stale, false);
  assert.deepEqual(await found(here, word), changed);

  await here.as('maintainer').post(`/projects/${here.project.id}/repository/branches`, { branch: 'side', ref: 'main' });
  await commit(here, [{ action: 'create', file_path: 'side.txt', content: `${word}\n` }], 'side');
  assert.equal((await stateOf(here))!.is_stale, false);
  await here.as('owner').put(`/projects/${here.project.id}`, { default_branch: 'side' });
  await performQueued(here.services, [indexCode]);
  assert.deepEqual(await found(here, word), [...changed, ['side.txt', [1]]]);
});

test('texts that are too large for the index are found, or the reply reports that they were skipped', async () => {
  const here = await filledWorld();
  const word = newWord();
  const line = `${'-'.repeat(2_000)}ü${word} behind`;
  const large = `${'x\n'.repeat(600_000)}${line}\n`;
  await commit(here, [
    { action: 'create', file_path: 'large.txt', content: large },
    { action: 'create', file_path: 'small.txt', content: `${line}\n` },
    {
      action: 'create',
      file_path: 'large.bin',
      content: Buffer.from(`\0${large}`).toString('base64'),
      encoding: 'base64',
    },
  ]);
  const second = { name: 'Second', namespace_id: here.group.id, initialize_with_readme: true };
  assert.equal((await here.as('owner').post('/projects', second)).status, 201);
  await performQueued(here.services, [indexCode]);
  const search = async (path: string, more: object = {}) => {
    const { body, headers } = await here
      .as('developer')
      .get(path, { scope: 'blobs', search: word, num_context_lines: 0, ...more });
    for (const { path: file, data } of body) {
      assert.ok(data.includes(`${word} behind`) && !data.includes('\ufffd') && data.length <= 1_025, file);
    }
    return [body.map(({ path: file }: { path: string }) => file), headers.get('x-search-incomplete')];
  };
  const project = `/projects/${here.project.id}/search`;
  assert.deepEqual(await search(project), [['large.txt', 'small.txt'], null]);
  assert.deepEqual(await search(project, { search: `x${word}|${word} be`, regex: true }), [['small.txt'], 'true']);
  assert.deepEqual(await search(`/groups/${here.group.id}/search`), [['small.txt'], 'true']);
  const { status } = await here
    .as('developer')
    .get(project, { scope: 'blobs', search: word, page: 501, per_page: 100 });
  assert.equal(status, 200);
});

test('the index finds all files by their paths, as git does', async () => {
  const here = await filledWorld();
  const word = newWord();
  const large = 'x\n'.repeat(600_000);
  await commit(here, [
    { action: 'create', file_path: `${word}/__init__.py`, content: '' },
    { action: 'create', file_path: `${word}/a.png`, content: 'AAAA', encoding: 'base64' },
    { action: 'create', file_path: `${word}/large.txt`, content: `${large}in_${word}\n` },
  ]);
  const all: [string, number[]][] = ['__init__.py', 'a.png', 'large.txt'].map((name) => [`${word}/${name}`, []]);
  const first: [string, number[]][] = [[`${word}/a.png`, []]];
  const searched = async () => [await found(here, `path:${word}`), await found(here, `extension:png path:${word}`)];
  assert.deepEqual(await searched(), [all, first]);
  await performQueued(here.services, [indexCode]);
  assert.equal((await stateOf(here))!.is_stale, false);
  assert.deepEqual(await searched(), [all, first]);

  const query = { scope: 'blobs', search: `in_${word}`, ref: 'main', num_context_lines: 1 };
  const { body } = await here.as('developer').get(`/projects/${here.project.id}/search`, query);
  const [{ data, startline }] = body;
  assert.deepEqual([body.length, data, startline], [1, `x\nin_${word}\n`, 600_000]);
  const [empty] = (await here.as('developer').get('/search', { scope: 'blobs', search: `${word}/__init__` })).body;
  assert.deepEqual([empty.data, empty.match_lines], ['', []]);
});

test('projects indexed incompletely by an earlier version are indexed again, and can be searched meanwhile', async () => {
  const here = await filledWorld();
  const word = newWord();
  await commit(here, [
    { action: 'create', file_path: 'a.txt', content: `${word}\n` },
    { action: 'create', file_path: `${word}.png`, content: 'AAAA', encoding: 'base64' },
  ]);
  await performQueued(here.services, [indexCode]);
  const { db, project } = here;
  await sql`delete from code_files where project_id = ${project.id} and path = ${`${word}.png`}`.execute(db);
  await sql`insert into code_files select project_id, 'gone.txt', blob_id from code_files where project_id = ${project.id} and path = 'a.txt'`.execute(
    db,
  );
  await sql`update code_indexes set has_all_paths = false where project_id = ${project.id}`.execute(db);
  await performJob(here.services, keepCodeIndex);
  const all: [string, number[]][] = [
    ['a.txt', [1]],
    [`${word}.png`, []],
  ];
  assert.deepEqual(await found(here, word), all);
  await performQueued(here.services, [indexCode]);
  assert.deepEqual(await found(here, word), all);
  await performJob(here.services, keepCodeIndex);
  assert.equal((await stateOf(here))!.is_stale, false);
});

test('indexed files are found only by users who may read the code', async () => {
  const here = await filledWorld();
  const word = newWord();
  await commit(here, [{ action: 'create', file_path: 'a.txt', content: `${word}\n` }]);
  await performQueued(here.services, [indexCode]);
  const everywhere = async (persona: 'developer' | 'guest' | 'outsider') =>
    (await here.as(persona).get('/search', { scope: 'blobs', search: word })).body.length;
  assert.deepEqual([await everywhere('developer'), await everywhere('guest'), await everywhere('outsider')], [1, 0, 0]);
  await here.as('owner').post(`/projects/${here.project.id}/archive`);
  assert.equal(await everywhere('developer'), 0);
});

test('unindexed projects are indexed, and unreferenced contents are removed', async () => {
  const here = await filledWorld();
  const word = newWord();
  await commit(here, [{ action: 'create', file_path: 'a.txt', content: `${word}\n` }]);
  await performQueued(here.services, [indexCode]);
  await sql`delete from code_indexes where project_id = ${here.project.id}`.execute(here.db);
  await performJob(here.services, keepCodeIndex);
  const contents = sql`select from code_blobs where content like ${`%${word}%`}`;
  assert.equal((await contents.execute(here.db)).rows.length, 0);
  await performQueued(here.services, [indexCode]);
  assert.equal((await contents.execute(here.db)).rows.length, 1);
  assert.deepEqual(await found(here, word), [['a.txt', [1]]]);
});

test('code search ignores case, even of letters beyond ASCII', async () => {
  const here = await filledWorld();
  const word = newWord();
  await commit(here, [{ action: 'create', file_path: 'a.txt', content: `Été ${word.toUpperCase()}\n` }]);
  await performQueued(here.services, [indexCode]);
  assert.deepEqual(await found(here, `ÉTÉ ${word}`), [['a.txt', [1]]]);
});

test('administrators see the state of the index, rebuild it, and turn it off', async () => {
  const here = await filledWorld({});
  const word = newWord();
  const admin = here.as('admin');
  await commit(here, [{ action: 'create', file_path: 'a.txt', content: `${word}\n` }]);
  const state = async () => (await admin.get('/admin/search/index')).body;
  const { projects, indexed, behind, failed, failures, enabled } = await state();
  assert.deepEqual([projects, indexed, behind, failed, failures, enabled], [1, 0, 1, 0, [], true]);
  await performQueued(here.services, [indexCode]);
  assert.equal((await state()).indexed, 1);
  assert.ok((await state()).bytes > 0);

  const again = await admin.post('/admin/search/index', { project_id: here.project.id });
  assert.deepEqual([again.status, again.body], [202, { message: '202 Accepted' }]);
  assert.deepEqual(await stateOf(here), { is_stale: true, files: 0 });
  await performQueued(here.services, [indexCode]);
  assert.equal((await state()).indexed, 1);
  assert.equal((await admin.post('/admin/search/index')).status, 202);
  assert.equal((await state()).behind, 1);
  assert.equal((await admin.post('/admin/search/index', { project_id: 999_999 })).status, 404);
  assert.equal((await here.as('owner').get('/admin/search/index')).status, 403);

  const set = (code_search: string) => admin.put('/application/settings', { code_search });
  assert.equal((await set('git')).status, 200);
  await performQueued(here.services, [indexCode]);
  assert.deepEqual(await stateOf(here), { is_stale: true, files: 0 });
  assert.deepEqual(await found(here, word), [['a.txt', [1]]]);
  assert.equal((await set('off')).status, 200);
  const off = await here.as('developer').get('/search', { scope: 'blobs', search: word });
  assert.deepEqual([off.status, off.body.message], [400, 'Code search is switched off']);
});
