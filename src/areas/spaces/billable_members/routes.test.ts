import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

interface Seat {
  id: number;
  membership_type: string;
  removable: boolean;
  is_last_owner: boolean;
}

test('owners see who takes a seat, and by which memberships', async () => {
  const { as, group, project, people } = await world();
  const url = `/groups/${group.id}/billable_members`;
  const { outsider } = people;
  const other = await sent(as('outsider').post('/groups', { name: 'Others', path: `others-${group.id}` }));
  await sent(as('outsider').post(`/groups/${other.id}/members`, { user_id: people.admin.id, access_level: 30 }));
  const link = { group_id: other.id, group_access: 30 };
  await as('admin').post(`/projects/${project.id}/share`, link);
  const seats: Seat[] = (await as('owner').get(url, { per_page: 100 })).body;
  const of = (id: number) => seats.find((seat) => seat.id === id);
  assert.deepEqual(
    [of(people.owner.id)?.is_last_owner, of(people.owner.id)?.removable],
    [true, false],
    JSON.stringify(seats),
  );
  assert.deepEqual([of(outsider.id)?.membership_type, of(outsider.id)?.removable], ['project_invite', false]);
  const direct = (await as('owner').get(`${url}/${people.developer.id}/memberships`)).body;
  assert.ok(Array.isArray(direct), JSON.stringify(direct));
  const [membership] = direct;
  assert.deepEqual(
    [direct.length, membership.access_level.integer_value, membership.access_level.string_value],
    [1, 30, 'Developer'],
  );
  const full = (await as('owner').get(`/projects/${project.id}`)).body.name_with_namespace;
  await sent(as('owner').post(`/projects/${project.id}/members`, { user_id: people.developer.id, access_level: 40 }));
  const both = (await as('owner').get(`${url}/${people.developer.id}/memberships`)).body;
  assert.deepEqual(
    both.map((one: { source_full_name: string }) => one.source_full_name),
    [full.split(' / ')[0], full],
  );
  assert.deepEqual((await as('owner').get(`${url}/${people.developer.id}/indirect`)).body, []);
  const indirect = (await as('owner').get(`${url}/${outsider.id}/indirect`)).body;
  assert.deepEqual(
    [indirect.length, indirect[0].source_id, indirect[0].access_level.integer_value],
    [1, project.id, 30],
  );
  const names = async (sort: string) =>
    (await as('owner').get(url, { sort, per_page: 100 })).body.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names('name_desc'), (await names('name_asc')).toReversed());
  assert.equal((await as('owner').get(url, { sort: 'access_level_desc' })).body[0].id, people.owner.id);
  const found = (await as('owner').get(url, { search: people.reporter.username })).body;
  assert.deepEqual(
    found.map(({ id }: Seat) => id),
    [people.reporter.id],
  );
});

test('a member is removed from everything in the group, and the last owner stays', async () => {
  const { as, group, project, people, db } = await world();
  const url = `/groups/${group.id}/billable_members`;
  const { outsider, developer, owner } = people;
  await sent(as('owner').post(`/projects/${project.id}/members`, { user_id: outsider.id, access_level: 20 }));
  assert.equal((await as('owner').delete(`${url}/${outsider.id}`)).status, 204);
  assert.equal((await as('owner').delete(`${url}/${developer.id}`)).status, 204);
  const left = db.selectFrom('members').select('id').where('user_id', 'in', [outsider.id, developer.id]);
  assert.deepEqual(await left.execute(), []);
  assert.equal((await as('developer').get(`/projects/${project.id}`)).status, 404);
  const gone = await as('owner').delete(`${url}/${developer.id}`);
  assert.deepEqual([gone.status, gone.body.message], [404, '404 User Not Found']);
  const last = await as('owner').delete(`${url}/${owner.id}`);
  const text =
    '400 Bad request - A group must keep an owner who is a person, is not blocked, and whose membership does not end';
  assert.deepEqual([last.status, last.body.message], [400, text]);
});

test('only owners of top-level groups see billable members', async () => {
  const { as, group } = await world();
  for (const [persona, status] of [
    ['anonymous', 401],
    ['maintainer', 403],
    ['outsider', 404],
  ] as const)
    assert.equal((await as(persona).get(`/groups/${group.id}/billable_members`)).status, status);
  const below = await sent(as('owner').post('/groups', { name: 'Below', path: `b-${group.id}`, parent_id: group.id }));
  const refused = await as('owner').get(`/groups/${below.id}/billable_members`);
  assert.deepEqual([refused.status, refused.body.message], [400, '400 Bad request - Only top-level groups have this']);
});
