import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Client } from '../../../../test/support/client.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { refreshAuthorizations } from '../../../access/index.ts';
import { createGroup } from '../groups/actions.ts';
import { createProject, type NewProject } from './index.ts';

type Columns = NonNullable<NewProject['columns']> & Record<string, unknown>;

/** Inserts a project into the group of a world or another namespace, without the API. */
const add = (here: World, name: string, columns: Columns = {}, namespace: NewProject['namespace'] = here.group) =>
  createProject(here.services, {
    name,
    path: name,
    namespace,
    creator_id: here.people.owner.id,
    default_branch: 'main',
    columns,
  });

/** Makes a group public, so that its projects can be public. */
const open = (here: World) =>
  here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();

const ids = (answer: { body: { id: number }[] }) => answer.body.map(({ id }) => id);

test('a list has the projects that are visible to the caller, and no others', async () => {
  const here = await world();
  await open(here);
  const shown = await add(here, 'shown', { visibility: 'public' });
  const internal = await add(here, 'internal', { visibility: 'internal' });
  const stranger = await here.person();
  await here.db.updateTable('users').set({ external: true }).where('id', '=', stranger.id).execute();
  const list = async (client: Client) =>
    ids(await client.get('/projects', { search: '', id_after: here.project.id - 1 }));

  assert.deepEqual(await list(here.as('anonymous')), [shown]);
  assert.deepEqual(await list(stranger.client), [shown], 'external');
  assert.deepEqual(await list(here.as('outsider')), [internal, shown]);
  for (const persona of ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner', 'admin'] as const)
    assert.deepEqual(await list(here.as(persona)), [internal, shown, here.project.id], persona);
});

test('an expired membership makes nothing visible', async () => {
  const here = await world();
  const other = await here.person();
  await here.db.transaction().execute(async (tx) => {
    await tx
      .insertInto('members')
      .values({ user_id: other.id, project_id: here.project.id, access_level: 30, expires_at: '2999-01-01' })
      .execute();
    await refreshAuthorizations(tx, { project_id: here.project.id });
  });
  assert.deepEqual(ids(await other.client.get('/projects', { membership: true })), [here.project.id]);
  await here.db
    .updateTable('project_authorizations')
    .set({ expires_at: '2020-01-01' })
    .where('user_id', '=', other.id)
    .execute();
  assert.deepEqual(ids(await other.client.get('/projects', { membership: true })), []);
  assert.equal((await other.client.get(`/projects/${here.project.id}`)).status, 404);
});

test('signed-in callers get all fields of projects; anonymous callers and simple lists get the basic fields', async () => {
  const here = await world();
  await open(here);
  const id = await add(here, 'shown', { visibility: 'public' });
  const mine = { search: 'shown', id_after: here.project.id };
  const [full] = (await here.as('developer').get('/projects', mine)).body;
  assert.equal(full.id, id);
  assert.deepEqual(full.permissions, {
    project_access: null,
    group_access: { access_level: 30, notification_level: 3 },
  });
  assert.equal(full._links.self, `http://coppice.test/api/v4/projects/${id}`);
  const [basic] = (await here.as('anonymous').get('/projects', mine)).body;
  const [simple] = (await here.as('developer').get('/projects', { ...mine, simple: true })).body;
  assert.deepEqual(basic, simple);
  assert.deepEqual(Object.keys(basic).toSorted(), [
    'avatar_url',
    'created_at',
    'default_branch',
    'description',
    'forks_count',
    'http_url_to_repo',
    'id',
    'last_activity_at',
    'name',
    'name_with_namespace',
    'namespace',
    'path',
    'path_with_namespace',
    'readme_url',
    'ssh_url_to_repo',
    'star_count',
    'tag_list',
    'topics',
    'visibility',
    'web_url',
  ]);
  assert.deepEqual(basic.namespace, {
    id: here.group.id,
    name: here.group.path,
    path: here.group.path,
    kind: 'group',
    full_path: here.group.path,
    parent_id: null,
    avatar_url: null,
    web_url: `http://coppice.test/groups/${here.group.path}`,
  });
});

test('lists are filtered by fields of projects', async () => {
  const here = await world();
  await open(here);
  const red = await add(here, 'red', { topics: ['color', 'warm'], description: '100% pure', visibility: 'public' });
  const blue = await add(here, 'blue', { topics: ['color'], archived: true, issues_access_level: 'disabled' });
  const green = await add(here, 'green', { merge_requests_access_level: 'private', visibility: 'internal' });
  const all = { id_after: here.project.id };
  const found = async (parameters: object, persona: Parameters<World['as']>[0] = 'owner') =>
    ids(await here.as(persona).get('/projects', { ...all, ...parameters }));

  assert.deepEqual(await found({}), [green, blue, red]);
  assert.deepEqual(await found({ id_before: green }), [blue, red]);
  assert.deepEqual(await found({ archived: true }), [blue]);
  assert.deepEqual(await found({ archived: false }), [green, red]);
  assert.deepEqual(await found({ active: true }), [green, red]);
  assert.deepEqual(await found({ active: false }), [blue]);
  assert.deepEqual(await found({ visibility: 'internal' }), [green]);
  assert.deepEqual(await found({ topic: 'color' }), [blue, red]);
  assert.deepEqual(await found({ topic: 'warm, color' }), [red]);
  assert.deepEqual(await found({ search: 'RE' }), [green, red]);
  assert.deepEqual(await found({ search: '0% p' }), [red]);
  assert.deepEqual(await found({ search: '%' }), [red]);
  assert.deepEqual(await found({ search: '_' }), []);
  assert.deepEqual(await found({ search: here.group.path }), []);
  assert.deepEqual(await found({ search: here.group.path, search_namespaces: true }), [green, blue, red]);
  assert.deepEqual(await found({ with_issues_enabled: true }), [green, red]);
  assert.deepEqual(await found({ with_merge_requests_enabled: true }), [green, blue, red]);
  assert.deepEqual(await found({ with_merge_requests_enabled: true }, 'outsider'), [red]);
  assert.deepEqual(await found({ with_merge_requests_enabled: true }, 'admin'), [green, blue, red]);
});

test("lists are filtered by the caller's memberships and stars", async () => {
  const here = await world();
  await open(here);
  const shown = await add(here, 'shown', { visibility: 'public' });
  const found = async (persona: Parameters<World['as']>[0], parameters: object) =>
    ids(await here.as(persona).get('/projects', { id_after: here.project.id - 1, ...parameters }));
  assert.deepEqual(await found('outsider', {}), [shown]);
  for (const narrowed of [{ membership: true }, { owned: true }, { min_access_level: 10 }]) {
    assert.deepEqual(await found('outsider', narrowed), []);
    assert.deepEqual(await found('anonymous', narrowed), []);
    assert.deepEqual(await found('admin', narrowed), [], 'administrators are not members');
    assert.deepEqual(await found('owner', narrowed), [shown, here.project.id]);
  }
  assert.deepEqual(await found('developer', { membership: true }), [shown, here.project.id]);
  assert.deepEqual(await found('developer', { min_access_level: 30 }), [shown, here.project.id]);
  assert.deepEqual(await found('developer', { min_access_level: 40 }), []);
  assert.deepEqual(await found('maintainer', { owned: true }), []);
  const refused = await here.as('owner').get('/projects', { min_access_level: 7 });
  assert.equal(refused.body.error, 'min_access_level does not have a valid value');
});

test('lists are ordered by every column, and equal rows by ID', async () => {
  const here = await world();
  const first = await add(here, 'b-1', { star_count: 2, updated_at: '2024-01-03' });
  const second = await add(here, 'c-2', { star_count: 2, updated_at: '2024-01-02' });
  const third = await add(here, 'a-3', { star_count: 1, updated_at: '2024-01-01' });
  // Creating a project is an activity itself.
  for (const [id, last_activity_at] of [
    [first, '2024-01-01'],
    [second, '2024-01-02'],
    [third, '2024-01-03'],
  ] as const)
    await here.db.updateTable('projects').set({ last_activity_at }).where('id', '=', id).execute();
  const inOrder = async (parameters: object) =>
    ids(await here.as('owner').get('/projects', { id_after: here.project.id, ...parameters }));
  assert.deepEqual(await inOrder({}), [third, second, first]);
  assert.deepEqual(await inOrder({ sort: 'asc' }), [first, second, third]);
  assert.deepEqual(await inOrder({ order_by: 'id' }), [third, second, first]);
  assert.deepEqual(await inOrder({ order_by: 'name', sort: 'asc' }), [third, first, second]);
  assert.deepEqual(await inOrder({ order_by: 'path' }), [second, first, third]);
  assert.deepEqual(await inOrder({ order_by: 'updated_at' }), [first, second, third]);
  assert.deepEqual(await inOrder({ order_by: 'last_activity_at' }), [third, second, first]);
  assert.deepEqual(await inOrder({ order_by: 'star_count' }), [second, first, third]);
  assert.deepEqual(await inOrder({ order_by: 'star_count', sort: 'asc' }), [third, first, second]);
  const stored = async (persona: 'owner' | 'admin', repository_storage: string) =>
    ids(
      await here.as(persona).get('/projects', { id_after: here.project.id, id_before: third + 1, repository_storage }),
    );
  assert.deepEqual(await stored('admin', 'default'), [third, second, first]);
  assert.deepEqual(await stored('admin', 'elsewhere'), []);
  assert.deepEqual(await stored('owner', 'elsewhere'), [third, second, first]);
  const fitting = await add(here, 'a-3-b');
  assert.deepEqual(await inOrder({ order_by: 'similarity', search: 'a-3' }), [third, fitting]);
  assert.deepEqual(await inOrder({ order_by: 'created_at', search: 'a-3' }), [fitting, third]);
  await here.db.deleteFrom('projects').where('id', '=', fitting).execute();
  assert.deepEqual(
    await inOrder({ last_activity_after: '2024-01-01T12:00:00Z', last_activity_before: '2024-01-02T12:00:00Z' }),
    [second],
  );
  assert.deepEqual(await inOrder({ order_by: 'updated_at', updated_after: '2024-01-01T12:00:00Z' }), [first, second]);
  const unpaired = await here.as('owner').get('/projects', { updated_before: '2024-01-02' });
  assert.equal(unpaired.status, 400);
  assert.deepEqual(unpaired.body, {
    message: '400 Bad request - `updated_at` filter and `updated_at` sorting must be paired',
  });
  assert.equal(
    (await here.as('owner').get('/projects', { order_by: 'color' })).body.error,
    'order_by does not have a valid value',
  );
});

test('of many projects that match a search, exact names and the newest are listed by similarity, then the others', async () => {
  const here = await world({});
  const { db, group, people } = here;
  const text = 'quince-and-medlar';
  const list = async (order_by: string, page: number, sort = 'desc') => {
    const input = { search: text, order_by, sort, simple: true, page, per_page: 100 };
    const reply = await here.as('owner').get('/projects', input);
    return { ids: ids(reply), total: reply.headers.get('x-total') };
  };
  const named = await add(here, text);
  assert.deepEqual((await list('similarity', 1)).ids, [named]);
  const older = await add(here, 'older', { description: text });
  const old = await add(here, 'old', { description: text });
  await sql`
    insert into projects (namespace_id, name, path, full_path, description, creator_id, default_branch, visibility)
    select ${group.id}::bigint, 'n' || n, 'n' || n, ${group.full_path}::text || '/n' || n, ${text}::text, ${people.owner.id}::bigint, 'main', 'internal'
      from generate_series(1, 1000) n`.execute(db);
  const newest = (await list('id', 1)).ids[0]!;
  const first = await list('similarity', 1);
  assert.deepEqual(first.ids, [named, ...Array.from({ length: 99 }, (_, index) => newest - index)]);
  assert.equal(first.total, '1003');
  assert.deepEqual((await list('similarity', 11)).ids, [newest - 999, old, older]);
  const ascending = [newest, older, old];
  assert.deepEqual((await list('similarity', 11, 'asc')).ids, ascending);
});

test('every order has an index with the columns that decide who sees a project', async () => {
  const { db } = await world();
  const { rows } = await sql<{
    indexdef: string;
  }>`select indexdef from pg_indexes where tablename = 'projects'`.execute(db);
  for (const columns of ['id', 'name, id', 'path, id', 'updated_at, id', 'last_activity_at, id', 'star_count, id']) {
    const end = ` USING btree (${columns}) INCLUDE (namespace_id, visibility, marked_for_deletion_at)`;
    assert.ok(
      rows.some(({ indexdef }) => indexdef.endsWith(end)),
      columns,
    );
  }
});

test('a long list is read by keyset, and large offsets are refused', async () => {
  const here = await world();
  const all: number[] = [];
  for (const name of ['one', 'two', 'three', 'four', 'five']) all.push(await add(here, name));
  const client = here.as('owner');
  for (const sort of ['asc', 'desc']) {
    const seen: number[] = [];
    let next = `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=2&id_after=${here.project.id}`;
    for (let page = 0; page < 3; page++) {
      const answer = await client.get(next);
      assert.equal(answer.headers.get('x-total'), null);
      seen.push(...ids(answer));
      const link = answer.headers.get('link');
      assert.equal(link !== null, page < 2);
      if (link) next = link.replace(/^<.*?(\/projects\?[^>]*)>; rel="next"$/, '$1');
    }
    assert.deepEqual(seen, sort === 'asc' ? all : all.toReversed());
  }
  const otherOrder = await client.get('/projects', { pagination: 'keyset', order_by: 'name' });
  assert.equal(otherOrder.status, 405);
  assert.equal(otherOrder.body.error, 'Keyset pagination is not yet available for this type of request');
  assert.equal((await client.get('/projects', { page: 500, per_page: 100 })).status, 200);
  const far = await client.get('/projects', { page: 501, per_page: 100 });
  assert.equal(far.status, 405);
  assert.equal(
    far.body.error,
    'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
  );
});

test('a group lists its own projects, and on request those of ancestors and subgroups', async () => {
  const here = await world();
  const { db, people } = here;
  const below = await db
    .transaction()
    .execute((tx) =>
      createGroup(tx, { name: 'below', path: 'below', parent_id: here.group.id, creator_id: people.owner.id }),
    );
  const inside = await add(here, 'inside', {}, { id: below, full_path: `${here.group.path}/below` });
  const list = async (group: number, parameters: object = {}) =>
    ids(await here.as('guest').get(`/groups/${group}/projects`, { ...parameters }));
  assert.deepEqual(await list(here.group.id), [here.project.id]);
  assert.deepEqual(await list(here.group.id, { include_subgroups: true }), [inside, here.project.id]);
  assert.deepEqual(await list(below), [inside]);
  assert.deepEqual(await list(below, { include_ancestor_groups: true }), [inside, here.project.id]);
  assert.deepEqual(await list(here.group.id, { include_subgroups: true, search: 'insi', order_by: 'name' }), [inside]);

  const [row] = (await here.as('guest').get(`/groups/${below}/projects`)).body;
  assert.equal(row.name_with_namespace, `${here.group.path} / below / inside`);
  assert.equal(row.permissions, undefined);
  assert.equal((await here.as('guest').get(`/groups/${below}/projects`, { simple: true })).body[0]._links, undefined);
  assert.equal((await here.as('outsider').get(`/groups/${below}/projects`)).status, 404);
  assert.equal((await here.as('anonymous').get(`/groups/${below}/projects`)).status, 404);

  await open(here);
  assert.deepEqual(
    ids(await here.as('outsider').get(`/groups/${here.group.id}/projects`)),
    [],
    'the group is open, its project is not',
  );
});

test('the projects of a user are those in their namespace', async () => {
  const here = await world();
  const person = await here.person();
  const namespace = await here.db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('owner_id', '=', person.id)
    .executeTakeFirstOrThrow();
  const secret = await add(here, 'secret', {}, namespace);
  const shown = await add(here, 'shown', { visibility: 'public' }, namespace);
  assert.deepEqual(ids(await person.client.get(`/users/${person.id}/projects`)), [shown, secret]);
  assert.deepEqual(ids(await here.as('outsider').get(`/users/${person.username.toUpperCase()}/projects`)), [shown]);
  assert.deepEqual(ids(await here.as('anonymous').get(`/users/${person.id}/projects`)), [shown]);
  assert.deepEqual((await here.as('outsider').get('/users/99999999/projects')).body, { message: '404 User Not Found' });
  assert.equal((await here.as('outsider').get('/users/99999999999999999999999/projects')).status, 404);

  const [row] = (await here.as('outsider').get(`/users/${person.id}/projects`)).body;
  assert.equal(row.owner.username, person.username);
  assert.equal(row.namespace.web_url, `http://coppice.test/${person.username}`);
  assert.deepEqual(row.permissions, { project_access: null, group_access: null });
  const [own] = (await person.client.get(`/users/${person.id}/projects`)).body;
  assert.deepEqual(own.permissions, {
    project_access: { access_level: 50, notification_level: 3 },
    group_access: null,
  });
});

test('invalid values of parameters are refused by name', async () => {
  const { as } = await world();
  for (const [parameters, error] of [
    [{ id_after: 'x' }, 'id_after is invalid'],
    [{ archived: 'maybe' }, 'archived is invalid'],
    [{ visibility: 'hidden' }, 'visibility does not have a valid value'],
    [{ last_activity_after: 'yesterday' }, 'last_activity_after is invalid'],
    [{ search: 'a\0b' }, 'search is invalid'],
    [{ search: { x: 1 } }, 'search is invalid'],
    [{ sort: 'up', per_page: 'x' }, 'per_page is invalid, sort does not have a valid value'],
  ] as const) {
    const refused = await as('owner').get('/projects', parameters);
    assert.equal(refused.status, 400);
    assert.equal(refused.body.error, error);
  }
});
