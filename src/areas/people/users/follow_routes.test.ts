import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

const ids = (rows: { id: number }[]) => rows.map(({ id }) => id);

test('followers are listed and counted until they unfollow', async () => {
  const { as, people } = await world();
  const { guest, planner } = people;
  const url = `/users/${guest.id}`;
  const followed = await as('planner').post(`${url}/follow`);
  assert.deepEqual([followed.status, followed.body.id, followed.body.email], [201, guest.id, undefined]);
  assert.equal((await as('planner').post(`${url}/follow`)).status, 304);
  assert.equal((await as('guest').post(`${url}/follow`)).status, 304, 'users cannot follow themselves');
  assert.equal((await as('anonymous').post(`${url}/follow`)).status, 401);
  assert.equal((await as('planner').post('/users/99999999/follow')).status, 404);

  assert.deepEqual(ids((await as('outsider').get(`${url}/followers`)).body), [planner.id]);
  assert.deepEqual(ids((await as('outsider').get(`/users/${planner.id}/following`)).body), [guest.id]);
  assert.deepEqual((await as('outsider').get(`${url}/following`)).body, []);
  const seen = (await as('planner').get(url)).body;
  assert.deepEqual([seen.followers, seen.following, seen.is_followed], [1, 0, true]);
  assert.equal((await as('outsider').get(url)).body.is_followed, false);
  assert.equal((await as('planner').get('/user')).body.following, 1);

  assert.equal((await as('planner').post(`${url}/unfollow`)).body.id, guest.id);
  assert.equal((await as('planner').post(`${url}/unfollow`)).status, 304);
  assert.deepEqual((await as('outsider').get(`${url}/followers`)).body, []);
});

test('a private profile hides followers', async () => {
  const { as, people, db } = await world();
  await as('planner').post(`/users/${people.guest.id}/follow`);
  await db.updateTable('users').set({ private_profile: true }).where('id', '=', people.guest.id).execute();
  const url = `/users/${people.guest.id}`;
  const hidden = await as('outsider').get(`${url}/followers`);
  assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 User Not Found' }]);
  assert.equal((await as('outsider').post(`${url}/follow`)).status, 404);
  assert.equal((await as('outsider').get(url)).body.followers, undefined);
  for (const persona of ['guest', 'admin'] as const)
    assert.deepEqual(ids((await as(persona).get(`${url}/followers`)).body), [people.planner.id]);
});

test('preferences are shown and updated one by one', async () => {
  const { as, people } = await world();
  const { id } = people.guest;
  const usual = {
    id,
    user_id: id,
    view_diffs_file_by_file: false,
    show_whitespace_in_diffs: true,
    pass_user_identities_to_ci_jwt: false,
    notified_of_own_activity: false,
  };
  assert.deepEqual((await as('guest').get('/user/preferences')).body, usual);
  const nothing = await as('guest').put('/user/preferences', {});
  assert.equal(nothing.status, 400);
  const names =
    'view_diffs_file_by_file, show_whitespace_in_diffs, pass_user_identities_to_ci_jwt, notified_of_own_activity';
  assert.equal(nothing.body.error, `${names} are missing, at least one parameter must be provided`);
  const changed = await as('guest').put('/user/preferences', { view_diffs_file_by_file: true });
  assert.deepEqual([changed.status, changed.body], [200, { ...usual, view_diffs_file_by_file: true }]);
  assert.deepEqual((await as('guest').get('/user/preferences')).body, changed.body);
});

test('users active since a day are listed, private profiles only for administrators', async () => {
  const { as, people, db } = await world();
  const { guest, planner } = people;
  const set = (id: number, columns: object) => db.updateTable('users').set(columns).where('id', '=', id).execute();
  await set(guest.id, { last_activity_on: '2999-01-02', private_profile: true });
  await set(planner.id, { last_activity_on: '2999-01-01' });
  const since = async (persona: 'outsider' | 'admin') =>
    (await as(persona).get('/user/activities', { from: '2999-01-01', per_page: 100 })).body.filter(
      ({ username }: { username: string }) => [guest.username, planner.username].includes(username),
    );
  const of = (username: string, day: string) => ({ username, last_activity_on: day, last_activity_at: day });
  assert.deepEqual(await since('outsider'), [of(planner.username, '2999-01-01')]);
  assert.deepEqual(await since('admin'), [of(planner.username, '2999-01-01'), of(guest.username, '2999-01-02')]);
  assert.equal((await as('guest').get('/user/activities', { from: 'soon' })).body.error, 'from is invalid');
});
