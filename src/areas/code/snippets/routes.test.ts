import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';
import { repositoryOf } from '../../../git/index.ts';

const files = [
  { file_path: 'b.txt', content: 'bees\n' },
  { file_path: 'a/ä.txt', content: 'apples\n' },
];

const urlOf = ({ project }: World) => `/projects/${project.id}/snippets`;
const placeOf = ({ services }: World, snippet_id: number) =>
  repositoryOf(services, { id: snippet_id, storage: 'default', folder: '@snippets' });
const isOnDisk = (here: World, id: number) =>
  access(placeOf(here, id).path).then(
    () => true,
    () => false,
  );
/** What the database has, for comparing before and after. */
const stored = async ({ db }: World) => ({
  snippets: await db.selectFrom('snippets').selectAll().orderBy('id').execute(),
  unused: await db.selectFrom('unused_repositories').selectAll().execute(),
  moves: await db.selectFrom('reference_updates').selectAll().execute(),
});

async function madeBy(here: World, persona: 'reporter' | 'developer' | 'maintainer', given: object = {}) {
  const { status, body } = await here.as(persona).post(urlOf(here), { title: 'Fruit', files, ...given });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

test('a public snippet of a private project is accepted, and still hidden from outsiders', async () => {
  const here = await world();
  const { as } = here;
  const made = await madeBy(here, 'reporter', { visibility: 'public' });
  assert.equal(made.visibility, 'public');
  const { id } = await madeBy(here, 'reporter', { visibility: 'private' });
  assert.equal((await as('reporter').put(`${urlOf(here)}/${id}`, { visibility: 'public' })).body.visibility, 'public');
  for (const who of ['outsider', 'anonymous'] as const) {
    assert.equal((await as(who).get(`${urlOf(here)}/${made.id}`)).status, 404);
    assert.equal((await as(who).get(`/snippets/${made.id}`)).status, 404);
  }
});

test('a snippet with two files is created, read, listed and deleted', async () => {
  const here = await world();
  const { as, people, project, db } = here;
  const { status, body: added } = await as('reporter').post(urlOf(here), {
    title: 'Fruit',
    description: 'Of *all* kinds',
    files,
  });
  assert.equal(status, 201);
  const web_url = `http://coppice.test/${project.full_path}/-/snippets/${added.id}`;
  const { author, created_at, updated_at, ...rest } = added;
  assert.deepEqual(rest, {
    id: added.id,
    title: 'Fruit',
    description: 'Of *all* kinds',
    visibility: 'private',
    project_id: project.id,
    web_url,
    raw_url: `${web_url}/raw`,
    ssh_url_to_repo: `ssh://git@coppice.test:2222/${project.full_path}/snippets/${added.id}.git`,
    http_url_to_repo: `http://coppice.test/${project.full_path}/snippets/${added.id}.git`,
    file_name: 'a/ä.txt',
    files: [
      { path: 'a/ä.txt', raw_url: `${web_url}/raw/main/a/%C3%A4.txt` },
      { path: 'b.txt', raw_url: `${web_url}/raw/main/b.txt` },
    ],
    imported: false,
    imported_from: 'none',
  });
  assert.deepEqual([author.id, author.username, author.email], [people.reporter.id, people.reporter.username, '']);
  assert.ok(created_at && updated_at && author.created_at);
  const url = `${urlOf(here)}/${added.id}`;
  assert.deepEqual((await as('guest').get(url)).body, added);
  assert.deepEqual((await as('guest').get(urlOf(here))).body, [added]);

  const raw = await as('guest').get(`${url}/raw`);
  assert.equal(raw.body, 'apples\n');
  assert.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.match(raw.headers.get('content-disposition')!, /^inline; filename="_\.txt"; filename\*=UTF-8''%C3%A4\.txt$/);
  const file = (ref: string, path: string) => as('guest').get(`${url}/files/${ref}/${encodeURIComponent(path)}/raw`);
  assert.equal((await file('main', 'b.txt')).body, 'bees\n');
  assert.deepEqual((await file('nowhere', 'b.txt')).body, { message: '404 Reference Not Found' });
  assert.deepEqual((await file('main', 'c.txt')).body, { message: '404 File Not Found' });

  const events = (await as('reporter').get(`/users/${people.reporter.id}`)).status;
  assert.equal(events, 200);
  const event = db
    .selectFrom('events')
    .select(['action', 'target_type', 'target_id', 'author_id'])
    .where('project_id', '=', project.id);
  assert.deepEqual(await event.where('target_type', '=', 'Snippet').execute(), [
    { action: 'created', target_type: 'Snippet', target_id: added.id, author_id: people.reporter.id },
  ]);

  assert.ok(await isOnDisk(here, added.id));
  const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
  assert.equal((await as('reporter').delete(url, {}, early)).status, 412);
  assert.equal((await as('reporter').delete(url)).status, 204);
  assert.deepEqual((await as('reporter').get(url)).body, { message: '404 Not found' });
  assert.deepEqual((await as('reporter').delete(url)).body, { message: '404 Snippet Not Found' });
  assert.equal(await isOnDisk(here, added.id), false);
  const unused = db
    .selectFrom('unused_repositories')
    .select('storage')
    .where('kind', '=', 'snippet')
    .where('id', '=', added.id);
  assert.deepEqual(await unused.execute(), []);
});

test('the deprecated parameters create and change a snippet with one file', async () => {
  const here = await world();
  const { as } = here;
  const added = await madeBy(here, 'developer', { files: undefined, file_name: 'one.rb', content: 'puts 1' });
  assert.deepEqual([added.file_name, added.files.length], ['one.rb', 1]);
  const url = `${urlOf(here)}/${added.id}`;
  const change = (given: object) => as('developer').put(url, { ...given });
  assert.equal((await change({ content: 'puts 2' })).body.file_name, 'one.rb');
  assert.equal((await as('guest').get(`${url}/raw`)).body, 'puts 2');
  assert.equal((await change({ file_name: 'two.rb' })).body.file_name, 'two.rb');
  assert.equal((await change({ file_name: 'three.rb', content: 'puts 3' })).body.file_name, 'three.rb');
  assert.equal((await as('guest').get(`${url}/raw`)).body, 'puts 3');

  const two = await madeBy(here, 'developer');
  const refused = await as('developer').put(`${urlOf(here)}/${two.id}`, { content: 'x', title: 'Other' });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body, {
    message: 'To update Snippets with multiple files, you must use the `files` parameter',
  });
  assert.deepEqual((await as('developer').get(`${urlOf(here)}/${two.id}`)).body, two);
});

test('files are created, updated, moved and deleted by one commit, with the title, or nothing changes', async () => {
  const here = await world();
  const { as } = here;
  const added = await madeBy(here, 'developer');
  const url = `${urlOf(here)}/${added.id}`;
  const changed = await as('developer').put(url, {
    title: 'Vegetables',
    files: [
      { action: 'create', content: 'carrots' },
      { action: 'update', file_path: 'b.txt', content: 'beans' },
      { action: 'move', previous_path: 'a/ä.txt', file_path: 'z.txt' },
    ],
  });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal(changed.body.title, 'Vegetables');
  assert.ok(changed.body.updated_at > added.updated_at);
  assert.deepEqual(
    changed.body.files.map(({ path }: { path: string }) => path),
    ['b.txt', 'snippetfile1.txt', 'z.txt'],
  );
  assert.equal((await as('guest').get(`${url}/files/main/z.txt/raw`)).body, 'apples\n');
  assert.equal((await as('guest').get(`${url}/raw`)).body, 'beans');
  const moved = await as('developer').put(url, {
    files: [
      { action: 'move', previous_path: 'z.txt', file_path: 'y.txt', content: 'yams' },
      { action: 'delete', file_path: 'b.txt' },
    ],
  });
  assert.equal(moved.body.file_name, 'snippetfile1.txt');
  assert.equal((await as('guest').get(`${url}/files/main/y.txt/raw`)).body, 'yams');

  const same = await as('developer').put(url, {
    title: 'Roots',
    files: [{ action: 'update', file_path: 'y.txt', content: 'yams' }],
  });
  assert.deepEqual([same.status, same.body.title], [200, 'Roots']);

  const before = await stored(here);
  const refusals: [object, number, string][] = [
    [
      { action: 'create', file_path: 'y.txt', content: 'x' },
      400,
      'Repository Error updating the snippet - A file with this name already exists',
    ],
    [
      { action: 'update', file_path: 'no.txt', content: 'x' },
      400,
      "Repository Error updating the snippet - A file with this name doesn't exist",
    ],
    [
      { action: 'create', file_path: '.git/config', content: 'x' },
      400,
      "Repository Error updating the snippet - invalid path: '.git/config'",
    ],
    [
      { action: 'create', file_path: 'n'.repeat(256), content: 'x' },
      400,
      'File name is too long (maximum is 255 characters)',
    ],
    [{ action: 'create', file_path: 'x.txt' }, 422, 'Snippet actions have invalid data'],
    [{ action: 'update', file_path: 'y.txt' }, 422, 'Snippet actions have invalid data'],
    [
      { action: 'update', file_path: 'y.txt', previous_path: 'x.txt', content: 'x' },
      422,
      'Snippet actions have invalid data',
    ],
    [{ action: 'delete' }, 422, 'Snippet actions have invalid data'],
    [{ action: 'move', file_path: 'y.txt', previous_path: 'y.txt' }, 422, 'Snippet actions have invalid data'],
    [{ action: 'create', file_path: '../x', content: 'x' }, 400, 'files[0][file_path] should be a valid file path'],
    [{ action: 'create', file_path: '/x', content: 'x' }, 400, 'files[0][file_path] should be a valid file path'],
    [{ action: 'create', content: ' ' }, 400, 'files[0][content] is empty'],
    [{ action: 'rename' }, 400, 'files[0][action] does not have a valid value'],
    [{}, 400, 'files[0][action] is missing'],
  ];
  for (const [file, expected, message] of refusals) {
    const refused = await as('developer').put(url, { title: 'Never', files: [file] });
    assert.deepEqual([refused.status, refused.body.message], [expected, message]);
  }
  const none = await as('developer').put(url, {
    files: ['y.txt', 'snippetfile1.txt'].map((file_path) => ({ action: 'delete', file_path })),
  });
  assert.equal(
    none.body.message,
    'Repository Error updating the snippet - The repository must contain at least 1 file.',
  );
  const many = Array.from({ length: 9 }, (_, index) => ({ action: 'create', file_path: `${index}.txt`, content: 'x' }));
  assert.equal(
    (await as('developer').put(url, { files: many })).body.message,
    'Repository Error updating the snippet - The repository can contain at most 10 file(s).',
  );
  assert.equal((await as('developer').put(url, { files: many.slice(1) })).status, 200, 'ten files');
  assert.deepEqual({ ...before, snippets: [] }, { ...(await stored(here)), snippets: [] });
});

test('a refused creation leaves nothing behind', async () => {
  const here = await world();
  const { as } = here;
  const before = await stored(here);
  const many = Array.from({ length: 11 }, (_, index) => ({ file_path: `${index}.txt`, content: 'x' }));
  const refusals: [object, number, string][] = [
    [{}, 400, 'title is missing, title is empty, files, content are missing, exactly one parameter must be provided'],
    [{ title: ' ', files }, 400, 'title is empty'],
    [{ title: 'x', files, content: 'x', file_name: 'x' }, 400, 'files, content are mutually exclusive'],
    [{ title: 'x', content: 'x' }, 400, 'file_name is missing'],
    [{ title: 'x', content: '', file_name: 'x' }, 400, 'content is empty'],
    [{ title: 'x', files: [{ file_path: 'x' }] }, 400, 'files[0][content] is missing, files[0][content] is empty'],
    [{ title: 'x', files: [{ file_path: 'x', content: '' }] }, 400, 'files[0][content] is empty'],
    [{ title: 'x', files: [{ file_path: null, content: 'x' }] }, 400, 'files[0][file_path] is empty'],
    [
      { title: 'x', files: [{ file_path: '../x', content: 'x' }] },
      400,
      'files[0][file_path] should be a valid file path',
    ],
    [{ title: 'x', files, visibility: 'open' }, 400, 'visibility does not have a valid value'],
    [{ title: 'x'.repeat(256), files }, 400, 'Title is too long (maximum is 255 characters)'],
    [
      { title: 'x', files, description: 'ä'.repeat(600_000) },
      400,
      'Description is too long (1.14 MB). The maximum size is 1 MB.',
    ],
    [
      { title: 'x', files: [] },
      400,
      'Repository Error creating the snippet - The repository must contain at least 1 file.',
    ],
    [
      { title: 'x', files: many },
      400,
      'Repository Error creating the snippet - The repository can contain at most 10 file(s).',
    ],
    [
      { title: 'x', files: [files[0], files[0]] },
      400,
      'Repository Error creating the snippet - A file with this name already exists',
    ],
    [
      {
        title: 'x',
        files: [
          { file_path: 'a', content: 'x' },
          { file_path: 'a/b', content: 'x' },
        ],
      },
      400,
      'Repository Error creating the snippet - A file with this name already exists',
    ],
  ];
  for (const [given, status, message] of refusals) {
    const refused = await as('reporter').post(urlOf(here), { ...given });
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  assert.deepEqual(await stored(here), before);
});

test('the size of files and of repositories is limited by a setting', async (t) => {
  const here = await world();
  const { as } = here;
  t.after(() => as('admin').put('/application/settings', { snippet_size_limit: 52_428_800 }));
  assert.equal(
    (await as('admin').put('/application/settings', { snippet_size_limit: 1000 })).body.snippet_size_limit,
    1000,
  );
  const content = (size: number) => ({ files: [{ file_path: 'a', content: 'x'.repeat(size) }] });
  const refused = await as('reporter').post(urlOf(here), { title: 'x', ...content(1025) });
  assert.equal(refused.body.message, 'Content is too long (1 KB). The maximum size is 1000 Bytes.');
  const both = { files: ['a', 'b'].map((file_path) => ({ file_path, content: 'x'.repeat(600) })) };
  assert.equal(
    (await as('reporter').post(urlOf(here), { title: 'x', ...both })).body.message,
    'Repository Error creating the snippet - The repository would have 1.17 KB. The maximum size is 1000 Bytes.',
  );
  const { id } = await madeBy(here, 'reporter', content(900));
  const change = { files: [{ action: 'update', file_path: 'a', content: 'y'.repeat(200) }] };
  assert.equal(
    (await as('reporter').put(`${urlOf(here)}/${id}`, change)).body.message,
    'Repository Error updating the snippet - The repository would have 1.07 KB. The maximum size is 1000 Bytes.',
  );
  assert.equal((await as('guest').get(`${urlOf(here)}/${id}/raw`)).body, 'x'.repeat(900));
});

test('who may read a snippet depends on its visibility, and who may change it on their role', async () => {
  const here = await world();
  const { as, project, db } = here;
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  const [hidden, inside, open] = [
    await madeBy(here, 'reporter', { visibility: 'private' }),
    await madeBy(here, 'reporter', { visibility: 'internal' }),
    await madeBy(here, 'reporter', { visibility: 'public' }),
  ].map(({ id }) => `${urlOf(here)}/${id}`) as [string, string, string];
  const external = await here.person();
  await db.updateTable('users').set({ external: true }).where('id', '=', external.id).execute();
  const reading = async (ask: (url: string) => Promise<{ status: number }>) =>
    Promise.all([hidden, inside, open].map(async (url) => (await ask(url)).status));
  assert.deepEqual(await reading((url) => as('anonymous').get(url)), [404, 404, 200]);
  assert.deepEqual(await reading((url) => external.client.get(`${url}/raw`)), [404, 404, 200]);
  assert.deepEqual(await reading((url) => as('outsider').get(url)), [404, 200, 200]);
  assert.deepEqual(await reading((url) => as('guest').get(url)), [200, 200, 200]);
  assert.deepEqual((await as('outsider').get(`${hidden}/raw`)).body, { message: '404 Snippet Not Found' });
  assert.deepEqual((await as('outsider').get(hidden)).body, { message: '404 Not found' });
  assert.equal((await as('anonymous').get(urlOf(here))).status, 401);
  assert.equal((await as('outsider').get(urlOf(here))).body.length, 2);
  assert.equal((await external.client.get(urlOf(here))).body.length, 1);
  assert.equal((await as('guest').get(urlOf(here))).body.length, 3);

  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['guest', 403],
    ['developer', 403],
  ] as const) {
    assert.equal((await as(persona).put(hidden, { title: 'Never' })).status, status, `${persona} changes`);
    assert.equal((await as(persona).delete(hidden)).status, status, `${persona} deletes`);
  }
  assert.equal((await as('guest').post(urlOf(here), { title: 'x', files })).status, 403);
  assert.equal((await as('reporter').get(hidden)).body.title, 'Fruit');
  assert.equal((await as('maintainer').put(hidden, { title: 'Theirs' })).body.title, 'Theirs');
  assert.equal((await as('reporter').put(hidden, { title: 'Mine' })).body.title, 'Mine');
  assert.equal(
    (await as('reporter').put(hidden, {})).body.message,
    'content, description, files, file_name, title, visibility are missing, at least one parameter must be provided',
  );

  const there = await world();
  const id = hidden.split('/').at(-1);
  assert.equal((await there.as('owner').get(`${urlOf(there)}/${id}`)).status, 404);
  assert.equal((await as('guest').get(`${urlOf(here)}/x`)).body.message, 'snippet_id is invalid');
});

test('a project can switch snippets off, and an archived one keeps them as they are', async () => {
  const here = await world();
  const { as, project } = here;
  const { id } = await madeBy(here, 'reporter');
  const url = `${urlOf(here)}/${id}`;
  await as('owner').post(`/projects/${project.id}/archive`);
  assert.equal(
    (await as('reporter').put(url, { title: 'Never' })).body.message,
    '403 Forbidden - The project is archived.',
  );
  assert.equal((await as('reporter').delete(url)).status, 403);
  assert.equal((await as('reporter').post(urlOf(here), { title: 'x', files })).status, 403);
  assert.equal((await as('guest').get(url)).body.title, 'Fruit');
  await as('owner').post(`/projects/${project.id}/unarchive`);
  await as('owner').put(`/projects/${project.id}`, { snippets_access_level: 'disabled' });
  for (const path of [urlOf(here), url, `${url}/raw`, `${url}/files/main/b.txt/raw`]) {
    const refused = await as('owner').get(path);
    assert.deepEqual([refused.status, refused.body], [403, { message: '403 Forbidden' }]);
  }
  assert.equal((await as('owner').put(url, { title: 'x' })).status, 403);
  assert.equal((await as('admin').get(`/snippets/${id}`)).status, 404);
  await as('owner').put(`/projects/${project.id}`, { snippets_access_level: 'private' });
  assert.equal((await as('guest').get(url)).status, 200);
});

test('administrators see the address from which a snippet was written', async () => {
  const here = await world();
  const { as, db } = here;
  const added = await as('reporter').post(urlOf(here), { title: 'x', files }, { headers: { 'user-agent': 'Tree/1' } });
  const url = `${urlOf(here)}/${added.body.id}/user_agent_detail`;
  assert.deepEqual((await as('admin').get(url)).body, {
    user_agent: 'Tree/1',
    ip_address: '127.0.0.1',
    akismet_submitted: false,
  });
  assert.equal((await as('owner').get(url)).status, 403);
  await db.deleteFrom('snippet_user_agents').where('snippet_id', '=', added.body.id).execute();
  assert.deepEqual((await as('admin').get(url)).body, { message: '404 UserAgentDetail Not Found' });
});
