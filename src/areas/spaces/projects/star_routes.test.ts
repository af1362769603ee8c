import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { world } from '../../../../test/support/world.ts';

test('a project is starred and unstarred once; stars are counted and listed', async () => {
  const { as, project, people, db } = await world();
  const url = `/projects/${project.id}`;
  const starred = await as('guest').post(`${url}/star`);
  assert.deepEqual([starred.status, starred.body.star_count], [201, 1]);
  assert.equal((await as('guest').post(`${url}/star`)).status, 304);
  assert.equal((await as('reporter').post(`${url}/star`)).body.star_count, 2);
  assert.equal((await as('outsider').post(`${url}/star`)).status, 404);

  const starrers = (await as('owner').get(`${url}/starrers`)).body;
  assert.deepEqual(
    starrers.map(({ user }: { user: { id: number } }) => user.id),
    [people.guest.id, people.reporter.id],
  );
  assert.match(starrers[0].starred_since, /Z$/);
  const ids = (rows: { id: number }[]) => rows.map(({ id }) => id);
  assert.deepEqual(ids((await as('guest').get('/projects', { starred: true })).body), [project.id]);
  assert.deepEqual(ids((await as('owner').get('/projects', { starred: true })).body), []);
  assert.deepEqual(ids((await as('owner').get(`/users/${people.guest.id}/starred_projects`)).body), [project.id]);
  assert.deepEqual(ids((await as('outsider').get(`/users/${people.guest.id}/starred_projects`)).body), []);

  await db.updateTable('users').set({ private_profile: true }).where('id', '=', people.guest.id).execute();
  assert.equal((await as('owner').get(`${url}/starrers`)).body.length, 1);
  assert.deepEqual(ids((await as('owner').get(`/users/${people.guest.id}/starred_projects`)).body), []);
  assert.deepEqual(ids((await as('guest').get(`/users/${people.guest.id}/starred_projects`)).body), [project.id]);

  assert.equal((await as('guest').post(`${url}/unstar`)).body.star_count, 1);
  assert.equal((await as('guest').post(`${url}/unstar`)).status, 304);
});

test('a service account, which has no namespace, has starred projects and no personal ones', async () => {
  const { as, project, url } = await world();
  const { id } = (await as('admin').post('/service_accounts')).body;
  const { token } = (await as('admin').post(`/users/${id}/personal_access_tokens`, { name: 'star', scopes: ['api'] }))
    .body;
  await as('owner').post(`/projects/${project.id}/members`, { user_id: id, access_level: 10 });
  assert.equal((await clientOf(`${url}/api/v4`, token).post(`/projects/${project.id}/star`)).status, 201);
  const listed = async (list: string) => {
    const { status, body } = await as('owner').get(`/users/${id}/${list}`);
    return [status, body.map((shown: { id: number }) => shown.id)];
  };
  assert.deepEqual(await listed('starred_projects'), [200, [project.id]]);
  assert.deepEqual(await listed('projects'), [200, []]);
});

test('the contributed projects of a user are listed for a year, to callers who can see them', async () => {
  const { as, project, people, db } = await world();
  const contributed = async (who: 'owner' | 'outsider') =>
    (await as(who).get(`/users/${people.planner.id}/contributed_projects`)).body.map(({ id }: { id: number }) => id);
  assert.deepEqual(await contributed('owner'), []);
  assert.equal((await as('planner').post(`/projects/${project.id}/issues`, { title: 'Mend the fence' })).status, 201);
  assert.deepEqual(await contributed('owner'), [project.id]);
  assert.deepEqual(await contributed('outsider'), []);
  await db
    .updateTable('events')
    .set({ created_at: new Date(Date.now() - 370 * 86_400_000).toISOString() })
    .where('author_id', '=', people.planner.id)
    .execute();
  assert.deepEqual(await contributed('owner'), []);
});
