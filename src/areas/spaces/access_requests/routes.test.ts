import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';

for (const kind of ['group', 'project'] as const) {
  test(`a user requests access to a ${kind} and is approved or denied`, async () => {
    const here = await world();
    await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
    await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
    const [place, other, late] = [`/${kind}s/${here[kind].id}`, await here.person(), await here.person()];
    const url = `${place}/access_requests`;
    assert.equal((await here.as('guest').post(url)).status, 403, 'members cannot request access');
    const asked = await here.as('outsider').post(url);
    assert.equal(asked.status, 201);
    const { requested_at, created_at, ...user } = asked.body;
    assert.equal(requested_at, created_at);
    assert.equal(user.username, here.people.outsider.username);
    const again = await here.as('outsider').post(url);
    assert.deepEqual([again.status, again.body], [400, { message: { user_id: ['already exists in source'] } }]);
    assert.equal((await late.client.post(url)).status, 201);
    assert.equal((await other.client.post(url)).status, 201);

    assert.equal((await here.as('developer').get(url)).status, 403);
    assert.deepEqual(
      (await here.as('owner').get(url)).body.map(({ id }: { id: number }) => id),
      [here.people.outsider.id, late.id, other.id],
      'oldest first',
    );
    assert.equal((await here.as('developer').put(`${url}/${other.id}/approve`)).status, 403);
    assert.equal((await here.as('outsider').delete(`${url}/${other.id}`)).status, 403);
    assert.equal((await here.as('owner').get(url)).body.length, 3);
    assert.equal((await late.client.delete(`${url}/${late.id}`)).status, 204);
    assert.equal((await other.client.delete(`${url}/${other.id}`)).status, 204);
    assert.deepEqual((await here.as('owner').delete(`${url}/${other.id}`)).body, { message: '404 Not found' });
    assert.equal((await here.as('owner').put(`${url}/${other.id}/approve`)).status, 404);

    const approved = await here.as('owner').put(`${url}/${here.people.outsider.id}/approve`);
    assert.deepEqual(
      [approved.status, approved.body.access_level, approved.body.id],
      [201, 30, here.people.outsider.id],
    );
    assert.equal((await here.as('outsider').get(`${place}/members/${here.people.outsider.id}`)).body.access_level, 30);
    assert.deepEqual((await here.as('owner').get(url)).body, []);

    await other.client.post(url);
    await here.as('owner').post(`${place}/members`, { user_id: other.id, access_level: 10 });
    assert.deepEqual((await here.as('owner').get(url)).body, [], 'users who were added in another way have no request');
  });

  test(`access cannot be requested where a ${kind} disables requests or is not visible`, async () => {
    const here = await world();
    const url = `/${kind}s/${here[kind].id}/access_requests`;
    assert.equal((await here.as('outsider').post(url)).status, 404);
    await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
    await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
    await here.as('owner').put(`/${kind}s/${here[kind].id}`, { request_access_enabled: false });
    assert.equal((await here.as('outsider').post(url)).status, 403);
    assert.deepEqual((await here.as('owner').get(url)).body, []);
  });
}

test('a maintainer cannot approve a request above their own level', async () => {
  const here = await world();
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const url = `/projects/${here.project.id}/access_requests`;
  await here.as('outsider').post(url);
  const approve = (access_level: number) =>
    here.as('maintainer').put(`${url}/${here.people.outsider.id}/approve`, { access_level });
  assert.equal((await approve(50)).status, 403);
  assert.equal((await here.as('maintainer').get(url)).body.length, 1);
  assert.equal((await approve(40)).body.access_level, 40);
});

test('bot users of access tokens cannot request access', async () => {
  const here = await world();
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  const { id } = (await here.as('outsider').post('/groups', { name: 'elsewhere', path: `elsewhere-${here.group.id}` }))
    .body;
  const expires_at = daysFromNow(20);
  const made = await here
    .as('outsider')
    .post(`/groups/${id}/access_tokens`, { name: 'program', scopes: ['api'], expires_at });
  const headers = { 'private-token': made.body.token };
  const asked = await here.as('anonymous').post(`/groups/${here.group.id}/access_requests`, {}, { headers });
  assert.equal(asked.status, 403);
  assert.deepEqual((await here.as('owner').get(`/groups/${here.group.id}/access_requests`)).body, []);
});

test('access requests are not approved where memberships are locked', async () => {
  const here = await world();
  await here.db
    .updateTable('namespaces')
    .set({ visibility: 'public', membership_lock: true })
    .where('id', '=', here.group.id)
    .execute();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const url = `/projects/${here.project.id}/access_requests`;
  assert.equal((await here.as('outsider').post(url)).status, 201);
  const approve = () => here.as('maintainer').put(`${url}/${here.people.outsider.id}/approve`);
  assert.equal((await approve()).status, 405);
  assert.equal((await here.as('maintainer').get(url)).body.length, 1);
  await here.db.updateTable('namespaces').set({ membership_lock: false }).where('id', '=', here.group.id).execute();
  assert.equal((await approve()).status, 201);
});
