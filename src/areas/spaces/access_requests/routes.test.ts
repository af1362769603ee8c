import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';

for (const kind of ['group', 'project'] as const) {
  test(`a user requests access to a ${kind} and is approved or denied`, async () => {
    const w = await world();
    await w.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', w.group.id).execute();
    await w.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', w.project.id).execute();
    const [place, other, late] = [`/${kind}s/${w[kind].id}`, await w.person(), await w.person()];
    const url = `${place}/access_requests`;
    assert.equal((await w.as('guest').post(url)).status, 403, 'members cannot request access');
    const asked = await w.as('outsider').post(url);
    assert.equal(asked.status, 201);
    const { requested_at, created_at, ...user } = asked.body;
    assert.equal(requested_at, created_at);
    assert.equal(user.username, w.people.outsider.username);
    const again = await w.as('outsider').post(url);
    assert.deepEqual([again.status, again.body], [400, { message: { user_id: ['already exists in source'] } }]);
    assert.equal((await late.client.post(url)).status, 201);
    assert.equal((await other.client.post(url)).status, 201);

    assert.equal((await w.as('developer').get(url)).status, 403);
    assert.deepEqual(
      (await w.as('owner').get(url)).body.map(({ id }: { id: number }) => id),
      [w.people.outsider.id, late.id, other.id],
      'oldest first',
    );
    assert.equal((await w.as('developer').put(`${url}/${other.id}/approve`)).status, 403);
    assert.equal((await w.as('outsider').delete(`${url}/${other.id}`)).status, 403);
    assert.equal((await w.as('owner').get(url)).body.length, 3);
    assert.equal((await late.client.delete(`${url}/${late.id}`)).status, 204);
    assert.equal((await other.client.delete(`${url}/${other.id}`)).status, 204);
    assert.deepEqual((await w.as('owner').delete(`${url}/${other.id}`)).body, { message: '404 Not found' });
    assert.equal((await w.as('owner').put(`${url}/${other.id}/approve`)).status, 404);

    const approved = await w.as('owner').put(`${url}/${w.people.outsider.id}/approve`);
    assert.deepEqual([approved.status, approved.body.access_level, approved.body.id], [201, 30, w.people.outsider.id]);
    assert.equal((await w.as('outsider').get(`${place}/members/${w.people.outsider.id}`)).body.access_level, 30);
    assert.deepEqual((await w.as('owner').get(url)).body, []);

    await other.client.post(url);
    await w.as('owner').post(`${place}/members`, { user_id: other.id, access_level: 10 });
    assert.deepEqual((await w.as('owner').get(url)).body, [], 'users who were added in another way have no request');
  });

  test(`access cannot be requested where a ${kind} disables requests or is not visible`, async () => {
    const w = await world();
    const url = `/${kind}s/${w[kind].id}/access_requests`;
    assert.equal((await w.as('outsider').post(url)).status, 404);
    await w.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', w.group.id).execute();
    await w.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', w.project.id).execute();
    await w.as('owner').put(`/${kind}s/${w[kind].id}`, { request_access_enabled: false });
    assert.equal((await w.as('outsider').post(url)).status, 403);
    assert.deepEqual((await w.as('owner').get(url)).body, []);
  });
}

test('a maintainer cannot approve a request above their own level', async () => {
  const w = await world();
  await w.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', w.group.id).execute();
  await w.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', w.project.id).execute();
  const url = `/projects/${w.project.id}/access_requests`;
  await w.as('outsider').post(url);
  const approve = (access_level: number) => w.as('maintainer').put(`${url}/${w.people.outsider.id}/approve`, { access_level });
  assert.equal((await approve(50)).status, 403);
  assert.equal((await w.as('maintainer').get(url)).body.length, 1);
  assert.equal((await approve(40)).body.access_level, 40);
});

test('bot users of access tokens cannot request access', async () => {
  const w = await world();
  await w.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', w.group.id).execute();
  const { id } = (await w.as('outsider').post('/groups', { name: 'elsewhere', path: `elsewhere-${w.group.id}` })).body;
  const expires_at = daysFromNow(20);
  const made = await w.as('outsider').post(`/groups/${id}/access_tokens`, { name: 'program', scopes: ['api'], expires_at });
  const headers = { 'private-token': made.body.token };
  const asked = await w.as('anonymous').post(`/groups/${w.group.id}/access_requests`, {}, { headers });
  assert.equal(asked.status, 403);
  assert.deepEqual((await w.as('owner').get(`/groups/${w.group.id}/access_requests`)).body, []);
});

test('access requests are not approved where memberships are locked', async () => {
  const w = await world();
  await w.db
    .updateTable('namespaces')
    .set({ visibility: 'public', membership_lock: true })
    .where('id', '=', w.group.id)
    .execute();
  await w.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', w.project.id).execute();
  const url = `/projects/${w.project.id}/access_requests`;
  assert.equal((await w.as('outsider').post(url)).status, 201);
  const approve = () => w.as('maintainer').put(`${url}/${w.people.outsider.id}/approve`);
  assert.equal((await approve()).status, 405);
  assert.equal((await w.as('maintainer').get(url)).body.length, 1);
  await w.db.updateTable('namespaces').set({ membership_lock: false }).where('id', '=', w.group.id).execute();
  assert.equal((await approve()).status, 201);
});
