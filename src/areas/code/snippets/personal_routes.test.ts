import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { repositoryOf } from '../../../git/index.ts';
import { removeUser } from '../../people/users/index.ts';
import { removeProject } from '../../spaces/projects/index.ts';
import { removeUnused } from '../repository/owners/unused_jobs.ts';
import { placeOf } from './kind.ts';

const files = [{ file_path: 'a.txt', content: 'apples\n' }];

const isOnDisk = ({ services }: World, snippet_id: number) =>
  access(repositoryOf(services, placeOf({ id: snippet_id, storage: 'default' })).path).then(
    () => true,
    () => false,
  );

/** A person with a snippet of each visibility, in this order. */
async function writer(here: World) {
  const person = await here.person();
  const ids: number[] = [];
  for (const visibility of ['private', 'internal', 'public']) {
    const { status, body } = await person.client.post('/snippets', { title: visibility, visibility, files });
    assert.equal(status, 201, JSON.stringify(body));
    ids.push(body.id);
  }
  return { ...person, ids };
}

const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

test('a personal snippet belongs to its author, and is internal by default', async () => {
  const here = await world();
  const { id: user_id, client } = await here.person();
  const { body: added } = await client.post('/snippets', { title: 'Mine', files });
  assert.deepEqual(
    [added.visibility, added.project_id, added.author.id, added.web_url, added.http_url_to_repo],
    [
      'internal',
      null,
      user_id,
      `http://coppice.test/-/snippets/${added.id}`,
      `http://coppice.test/snippets/${added.id}.git`,
    ],
  );
  const url = `/snippets/${added.id}`;
  assert.equal((await here.as('outsider').get(`${url}/raw`)).body, 'apples\n');
  assert.equal((await here.as('outsider').get(`${url}/files/main/a.txt/raw`)).body, 'apples\n');
  assert.equal((await client.put(url, { title: 'Still mine', visibility: 'private' })).body.title, 'Still mine');
  assert.equal((await here.as('outsider').get(url)).status, 404);
  assert.equal((await here.as('admin').put(url, { description: 'Seen' })).body.description, 'Seen');
  assert.equal((await here.as('admin').get(`${url}/user_agent_detail`)).body.ip_address, '127.0.0.1');
  const nothing = await here.db
    .selectFrom('events')
    .select('id')
    .where('target_type', '=', 'Snippet')
    .where('target_id', '=', added.id)
    .execute();
  assert.deepEqual(nothing, []);
  assert.equal((await client.delete(url)).status, 204);
  assert.equal((await client.get(url)).status, 404);
  assert.equal(await isOnDisk(here, added.id), false);
});

test('others read personal snippets by their visibility and never change them', async () => {
  const here = await world();
  const { ids, client } = await writer(here);
  const external = await here.person();
  await here.db.updateTable('users').set({ external: true }).where('id', '=', external.id).execute();
  const reading = (as: { get: typeof client.get }) =>
    Promise.all(ids.map(async (id) => (await as.get(`/snippets/${id}`)).status));
  assert.deepEqual(await reading(here.as('anonymous')), [404, 404, 200]);
  assert.deepEqual(await reading(external.client), [404, 404, 200]);
  assert.deepEqual(await reading(here.as('outsider')), [404, 200, 200]);
  assert.deepEqual(await reading(here.as('admin')), [200, 200, 200]);
  assert.deepEqual(await reading(client), [200, 200, 200]);
  for (const id of ids) {
    const refused = await here.as('outsider').put(`/snippets/${id}`, { title: 'Never' });
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Snippet Not Found' }]);
    assert.equal((await here.as('outsider').delete(`/snippets/${id}`)).status, 404);
    assert.equal((await here.as('anonymous').delete(`/snippets/${id}`)).status, 401);
  }
  assert.deepEqual(await reading(client), [200, 200, 200]);
  assert.equal((await external.client.post('/snippets', { title: 'x', files })).status, 403);
  assert.equal((await here.as('anonymous').post('/snippets', { title: 'x', files })).status, 401);
  assert.equal((await here.as('owner').get(`/snippets/${ids[2]}/user_agent_detail`)).status, 403);
});

test('the lists contain the snippets of the caller, public ones, and all that the caller may read', async () => {
  const here = await world();
  const { ids, client, id: user_id } = await writer(here);
  await here.as('owner').post(`/projects/${here.project.id}/members`, { user_id, access_level: 20 });
  const inProject = (await client.post(`/projects/${here.project.id}/snippets`, { title: 'x', files })).body.id;
  const [hidden, internal, open] = ids as [number, number, number];
  assert.deepEqual(idsOf(await client.get('/snippets')), [inProject, open, internal, hidden]);
  assert.deepEqual(idsOf(await client.get('/snippets', { per_page: 1, page: 2 })), [open]);
  const ours = (answer: { body: { id: number }[] }) => idsOf(answer).filter((id) => [...ids, inProject].includes(id));
  assert.deepEqual(ours(await here.as('outsider').get('/snippets/public')), [open]);
  assert.deepEqual(ours(await here.as('outsider').get('/snippets/all')), [open, internal]);
  assert.deepEqual(ours(await here.as('guest').get('/snippets/all')), [inProject, open, internal]);
  assert.deepEqual(ours(await here.as('admin').get('/snippets/all')), [inProject, open, internal, hidden]);
  assert.deepEqual(idsOf(await here.as('outsider').get('/snippets')), []);
  for (const list of ['', '/public', '/all'])
    assert.equal((await here.as('anonymous').get(`/snippets${list}`)).status, 401);

  await here.db.updateTable('snippets').set({ created_at: '2020-05-05T00:00:00Z' }).where('id', '=', open).execute();
  assert.deepEqual(idsOf(await client.get('/snippets', { created_before: '2021-01-01' })), [open]);
  assert.deepEqual(idsOf(await client.get('/snippets', { created_after: '2021-01-01T00:00:00Z' })), [
    inProject,
    internal,
    hidden,
  ]);
  assert.deepEqual(ours(await here.as('outsider').get('/snippets/public', { created_after: '2021-01-01' })), []);
  assert.equal((await client.get('/snippets', { created_after: 'x' })).body.message, 'created_after is invalid');
  // A snippet of a project is read by its own ID, too, and changed by those who may change it there.
  assert.equal((await here.as('guest').get(`/snippets/${inProject}`)).body.project_id, here.project.id);
  assert.equal((await here.as('guest').put(`/snippets/${inProject}`, { title: 'y' })).status, 404);
  assert.equal((await client.put(`/snippets/${inProject}`, { title: 'y' })).body.title, 'y');
});

test('restricted levels are refused, and never the default', async (t) => {
  const here = await world();
  const { client } = await here.person();
  t.after(() => here.as('admin').put('/application/settings', { restricted_visibility_levels: [] }));
  await here.as('admin').put('/application/settings', { restricted_visibility_levels: ['internal', 'public'] });
  const refused = await client.post('/snippets', { title: 'x', files, visibility: 'public' });
  assert.deepEqual(
    [refused.status, refused.body],
    [403, { message: 'Visibility level public has been restricted by your administrator' }],
  );
  const { body } = await client.post('/snippets', { title: 'x', files });
  assert.equal(body.visibility, 'private');
  assert.equal((await client.put(`/snippets/${body.id}`, { visibility: 'internal' })).status, 403);
  assert.equal(
    (await here.as('admin').put(`/snippets/${body.id}`, { visibility: 'internal' })).body.visibility,
    'internal',
  );
  assert.equal(
    (await client.put(`/snippets/${body.id}`, { visibility: 'internal', title: 'y' })).body.title,
    'y',
    'as it is',
  );
});

test('snippets are deleted with their project and their user, and then their repositories', async () => {
  const here = await world();
  const { services, db, project } = here;
  const { ids, id: user_id, client } = await writer(here);
  const kept = await here.as('owner').post(`/projects/${project.id}/members`, { user_id, access_level: 20 });
  assert.equal(kept.status, 201);
  const inProject = (await client.post(`/projects/${project.id}/snippets`, { title: 'x', files })).body.id;
  await here.as('admin').delete(`/users/${user_id}`);
  await performQueued(services, [removeUser]);
  assert.equal((await here.as('admin').get(`/snippets/${ids[2]}`)).status, 404);
  assert.equal(
    (await here.as('owner').get(`/projects/${project.id}/snippets/${inProject}`)).body.author.name,
    'Ghost User',
  );
  const sweep = async () => {
    await performJob(services, removeUnused);
    assert.deepEqual(await db.selectFrom('unused_repositories').selectAll().execute(), []);
  };
  assert.equal(await isOnDisk(here, ids[0]!), true);
  await sweep();
  assert.deepEqual(await Promise.all(ids.map((id) => isOnDisk(here, id))), [false, false, false]);
  assert.equal(await isOnDisk(here, inProject), true);

  await here.as('owner').delete(`/projects/${project.id}`);
  const { path_with_namespace: full_path } = (await here.as('owner').get(`/projects/${project.id}`)).body;
  await here.as('owner').delete(`/projects/${project.id}`, { permanently_remove: true, full_path });
  await performQueued(services, [removeProject, removeUnused]);
  assert.deepEqual(await db.selectFrom('snippets').select('id').where('id', '=', inProject).execute(), []);
  await sweep();
  assert.equal(await isOnDisk(here, inProject), false);
});
