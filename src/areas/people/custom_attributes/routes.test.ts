import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

test('administrators set, list and delete attributes of users, groups and projects', async () => {
  const { as, project, group, people } = await world();
  const admin = as('admin');
  for (const owner of [`/users/${people.guest.id}`, `/groups/${group.id}`, `/projects/${project.id}`]) {
    const url = `${owner}/custom_attributes`;
    assert.deepEqual((await admin.get(url)).body, []);
    const added = await admin.put(`${url}/tier%2Fb`, { value: 'gold' });
    assert.deepEqual([added.status, added.body], [200, { key: 'tier/b', value: 'gold' }]);
    await admin.put(`${url}/place`, { value: 'Orchard' });
    assert.deepEqual((await admin.put(`${url}/place`, { value: 'Barn' })).body, { key: 'place', value: 'Barn' });
    const all = [
      { key: 'place', value: 'Barn' },
      { key: 'tier/b', value: 'gold' },
    ];
    assert.deepEqual((await admin.get(url)).body, all);
    assert.deepEqual((await admin.get(owner, { with_custom_attributes: true })).body.custom_attributes, all);
    assert.equal((await admin.get(owner)).body.custom_attributes, undefined);
    assert.equal((await as('owner').get(owner, { with_custom_attributes: true })).body.custom_attributes, undefined);
    assert.deepEqual((await admin.get(`${url}/place`)).body, all[0]);
    assert.equal((await admin.delete(`${url}/tier%2Fb`)).status, 204);
    const gone = await admin.delete(`${url}/tier%2Fb`);
    assert.deepEqual([gone.status, gone.body.message], [404, '404 Custom attribute Not Found']);
    const unknown = await admin.get(`${url}/tier%2Fb`);
    assert.deepEqual([unknown.status, unknown.body.message], [404, '404 Not found']);
  }
});

test('lists are filtered by attributes, all of which must match, for administrators only', async () => {
  const { as, project, group, people } = await world();
  const admin = as('admin');
  const owners = [
    ['/users', people.guest.id],
    ['/groups', group.id],
    ['/projects', project.id],
  ] as const;
  for (const [list, id] of owners) {
    await admin.put(`${list}/${id}/custom_attributes/place`, { value: `Barn ${list}` });
    await admin.put(`${list}/${id}/custom_attributes/row`, { value: '7' });
    const both = { 'custom_attributes[place]': `Barn ${list}`, 'custom_attributes[row]': '7' };
    const found = await admin.get(list, { ...both, with_custom_attributes: true });
    assert.deepEqual(
      found.body.map((item: { id: number; custom_attributes: unknown[] }) => [item.id, item.custom_attributes.length]),
      [[id, 2]],
    );
    assert.deepEqual((await admin.get(list, { ...both, 'custom_attributes[row]': '8' })).body, []);
    assert.deepEqual((await admin.get(list, { 'custom_attributes[place]': 'Barn /' })).body, []);
    const ignored = await as('owner').get(list, { ...both, 'custom_attributes[row]': '8' });
    assert.ok(ignored.body.length > 0 && ignored.body[0].custom_attributes === undefined);
  }
  const inGroup = { 'custom_attributes[row]': '7', with_custom_attributes: true };
  const projects = (await admin.get(`/groups/${group.id}/projects`, inGroup)).body;
  assert.deepEqual([projects.length, projects[0].custom_attributes.length], [1, 2]);
});

test('invalid keys and values are refused, and the limit cannot be exceeded', async () => {
  const { as, project, db } = await world();
  const url = `/projects/${project.id}/custom_attributes`;
  assert.equal((await as('admin').put(`${url}/a`)).body.message, 'value is missing');
  for (const value of ['', ' '])
    assert.deepEqual((await as('admin').put(`${url}/a`, { value })).body.message, { value: ["can't be blank"] });
  const long = ['is too long (maximum is 4096 characters)'];
  assert.deepEqual((await as('admin').put(`${url}/a`, { value: 'x'.repeat(4097) })).body.message, { value: long });
  assert.equal((await as('admin').put(`${url}/${'k'.repeat(256)}`, { value: 'x' })).status, 400);
  assert.equal((await as('admin').get('/users/999999999/custom_attributes')).body.message, '404 User Not Found');
  for (const [persona, status] of [
    ['anonymous', 401],
    ['guest', 403],
    ['owner', 403],
  ] as const)
    assert.equal((await as(persona).put(`${url}/a`, { value: 'x' })).status, status);
  await db
    .insertInto('custom_attributes')
    .values(Array.from({ length: 99 }, (_, index) => ({ project_id: project.id, key: `k${index}`, value: 'v' })))
    .execute();
  const replies = await Promise.all(['a', 'b', 'c'].map((key) => as('admin').put(`${url}/${key}`, { value: 'x' })));
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400, 400]);
  const refused = replies.find(({ status }) => status === 400)!.body.message;
  assert.deepEqual(refused, { base: ['Maximum number of custom attributes (100) exceeded'] });
  assert.equal((await as('admin').put(`${url}/k0`, { value: 'changed' })).status, 200);
});
