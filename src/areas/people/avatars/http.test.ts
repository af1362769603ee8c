import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const pixels = new Uint8Array([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0,
]);

function form(name: string, bytes: Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}): FormData {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  body.append('avatar', new Blob([bytes]), name);
  return body;
}

const upload = ({ as }: World, persona: Persona, method: 'put' | 'post', path: string, raw: FormData) =>
  as(persona)[method](path, {}, { raw });

/** Downloads by the URL in `avatar_url`, whose host the tests do not listen at. */
const download = ({ url, people }: World, avatar_url: string, persona?: Persona) =>
  fetch(
    `${url}${new URL(avatar_url).pathname}`,
    persona ? { headers: { 'private-token': people[persona].token } } : {},
  );

test('users, groups, projects and topics get an avatar, which is shown and removed', async () => {
  const here = await world();
  const { as, project, group, people } = here;
  const topic = await as('admin').post('/topics', { name: `avatars-${group.id}`, title: 'Avatars' });
  const places: [Persona, string, string][] = [
    ['admin', `/users/${people.guest.id}`, 'user'],
    ['owner', `/groups/${group.id}`, 'group'],
    ['maintainer', `/projects/${project.id}`, 'project'],
    ['admin', `/topics/${topic.body.id}`, 'projects/topic'],
  ];
  for (const [persona, path, kind] of places) {
    const changed = await upload(here, persona, 'put', path, form('my face.png', pixels));
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const { id, avatar_url } = changed.body;
    assert.equal(avatar_url, `http://coppice.test/uploads/-/system/${kind}/avatar/${id}/my_face.png`);
    assert.equal((await as(persona).get(path)).body.avatar_url, avatar_url);
    const answer = await download(here, avatar_url, 'guest');
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png']);
    assert.match(answer.headers.get('content-security-policy')!, /sandbox/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), pixels);
    assert.equal((await download(here, avatar_url.replace('my_face', 'other'), 'guest')).status, 404);

    assert.equal((await as(persona).put(path, { avatar: null })).body.avatar_url, null);
    assert.equal((await download(here, avatar_url, 'guest')).status, 404);
  }
  const unused = await here.db.selectFrom('unused_blobs').select('key').where('key', 'like', 'avatars/%').execute();
  assert.equal(unused.length, places.length);
});

test('an avatar that cannot be set undoes the change that it came with', async () => {
  const here = await world();
  const { as, db, project, group, people } = here;
  const topic = await as('admin').post('/topics', { name: `undone-${group.id}`, title: 'Undone' });
  for (const table of ['projects', 'namespaces', 'users', 'topics'])
    await sql`alter table ${sql.table(table)} add constraint no_such_avatar check (avatar <> 'refused.png')`.execute(
      db,
    );
  const name = `undone-${group.id}-again`;
  const person = { username: name, name, email: `${name}@example.com`, force_random_password: 'true' };
  const created: [Persona, string, Record<string, string>, string][] = [
    [
      'owner',
      '/projects',
      { path: name, namespace_id: String(group.id) },
      `/projects/${encodeURIComponent(`${group.full_path}/${name}`)}`,
    ],
    ['admin', '/groups', { name, path: name }, `/groups/${name}`],
    ['admin', '/topics', { name, title: name }, `/topics?search=${name}`],
    ['admin', '/users', person, `/users?username=${name}`],
  ];
  for (const [persona, path, fields, result] of created) {
    const refused = await upload(here, persona, 'post', path, form('refused.png', pixels, fields));
    assert.equal(refused.status, 500, `${path} ${JSON.stringify(refused.body)}`);
    const { status, body } = await as(persona).get(result);
    assert.ok(status === 404 || body.length === 0, `${path} left ${JSON.stringify(body)}`);
  }
  const changed: [Persona, string, string][] = [
    ['admin', `/users/${people.guest.id}`, 'name'],
    ['owner', `/groups/${group.id}`, 'name'],
    ['maintainer', `/projects/${project.id}`, 'description'],
    ['admin', `/topics/${topic.body.id}`, 'title'],
  ];
  for (const [persona, path, field] of changed) {
    const before = (await as(persona).get(path)).body[field];
    const refused = await upload(here, persona, 'put', path, form('refused.png', pixels, { [field]: 'Changed' }));
    assert.equal(refused.status, 500, path);
    assert.equal((await as(persona).get(path)).body[field], before, path);
  }
});

test('avatars are set on creation, and shown wherever their owner is', async () => {
  const here = await world();
  const { as, group, people } = here;
  const fields = { name: 'With avatar', namespace_id: String(group.id) };
  const made = await upload(here, 'owner', 'post', '/projects', form('logo.png', pixels, fields));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.match(made.body.avatar_url, /\/project\/avatar\/\d+\/logo\.png$/);
  await upload(here, 'owner', 'put', `/groups/${group.id}`, form('group.png', pixels));
  const { namespace } = (await as('owner').get(`/projects/${made.body.id}`)).body;
  assert.match(namespace.avatar_url, /\/group\/avatar\/\d+\/group\.png$/);

  const own = await upload(
    here,
    'owner',
    'put',
    '/user/avatar',
    form('me.gif', new TextEncoder().encode('GIF89a, and the rest')),
  );
  assert.equal(own.status, 200);
  const issue = await as('owner').post(`/projects/${made.body.id}/issues`, { title: 'By the owner' });
  assert.equal(issue.body.author.avatar_url, own.body.avatar_url);
  const email = `${people.owner.username}@example.com`;
  assert.equal((await as('anonymous').get('/avatar', { email })).body.avatar_url, null);
  await as('admin').put(`/users/${people.owner.id}`, { public_email: email });
  assert.equal((await as('anonymous').get('/avatar', { email })).body.avatar_url, own.body.avatar_url);
  assert.equal((await as('owner').delete('/user/avatar')).status, 204);
  assert.equal((await as('owner').get('/user')).body.avatar_url, null);
});

test('private avatars are shown only to those who can see the project or group', async () => {
  const here = await world();
  const { as, project, group } = here;
  for (const [persona, path] of [
    ['owner', `/groups/${group.id}`],
    ['maintainer', `/projects/${project.id}`],
  ] as const) {
    const missing = await as('guest').get(`${path}/avatar`);
    assert.deepEqual([missing.status, missing.body.message], [404, '404 Avatar Not Found']);
    const { avatar_url } = (await upload(here, persona, 'put', path, form('a.png', pixels))).body;
    assert.equal((await as('guest').get(`${path}/avatar`)).status, 200);
    assert.equal((await as('outsider').get(`${path}/avatar`)).status, 404);
    assert.equal((await download(here, avatar_url, 'outsider')).status, 404);
    assert.equal((await download(here, avatar_url)).status, 404);
  }
});

test('files that cannot be avatars are refused, and nothing changes', async () => {
  const here = await world();
  const path = `/projects/${here.project.id}`;
  const refused = async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
    const { status, body } = await upload(
      here,
      'maintainer',
      'put',
      path,
      form(name, bytes, { description: 'changed' }),
    );
    assert.equal(status, 400);
    return body.message.avatar[0];
  };
  const large = new Uint8Array(200 * 1024 + 1);
  large.set(pixels);
  assert.equal(await refused('a.png', large), 'is too big (should be at most 200 KiB)');
  const html = new TextEncoder().encode('<script>alert(1)</script>');
  for (const [name, bytes] of [
    ['a.png', html],
    ['a.svg', pixels],
    ['a.html', html],
  ] as const)
    assert.match(await refused(name, bytes), /^file format is not supported\. .* image\/png, /);
  assert.equal((await here.as('maintainer').put(path, { avatar: 'text' })).body.error, 'avatar is invalid');
  assert.equal((await upload(here, 'developer', 'put', path, form('a.png', pixels))).status, 403);
  const { body } = await here.as('maintainer').get(path);
  assert.deepEqual([body.avatar_url, body.description], [null, null]);
});
