import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';
import { type Actor, isExperimentOn } from './index.ts';

const name = 'invitation_mail_preview';

/** Features and settings belong to the instance, which all worlds of a file share. */
async function freshWorld(t: TestContext): Promise<World> {
  const here = await world();
  t.after(async () => {
    await here.db.deleteFrom('features').execute();
    await here.db.updateTable('application_settings').set({ team_group_id: null }).execute();
  });
  return here;
}

const set = async ({ as }: World, parameters: object) => {
  const answer = await as('admin').post(`/features/${name}`, { ...parameters });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
};

const statusOf = async ({ as }: World) => {
  const { status, body } = await as('admin').get('/experiments');
  assert.equal(status, 200);
  return body.find(({ key }: { key: string }) => key === name).current_status;
};

const off = { key: 'boolean', value: false };

test('experiments are listed with their definitions and their gates', async (t) => {
  const here = await freshWorld(t);
  const { body } = await here.as('admin').get('/experiments');
  const [experiment] = body;
  assert.deepEqual(Object.keys(experiment), ['key', 'definition', 'current_status']);
  assert.equal(experiment.key, name);
  assert.deepEqual(Object.keys(experiment.definition), [
    ...['name', 'introduced_by_url', 'rollout_issue_url', 'milestone', 'type', 'group', 'default_enabled'],
  ]);
  assert.deepEqual(await statusOf(here), { state: 'off', gates: [off] });

  await set(here, { value: 10, key: 'percentage_of_actors' });
  assert.deepEqual(await statusOf(here), {
    state: 'conditional',
    gates: [off, { key: 'percentage_of_actors', value: 10 }],
  });
  await set(here, { value: true });
  assert.deepEqual(await statusOf(here), { state: 'on', gates: [{ key: 'boolean', value: true }] });
  await set(here, { value: 'false' });
  assert.deepEqual(await statusOf(here), { state: 'off', gates: [off] });
});

test('only the team sees experiments: administrators, and the members of its group in any role', async (t) => {
  const here = await freshWorld(t);
  const { as, group, people } = here;
  const statuses = async () => {
    const personas = ['anonymous', 'outsider', 'guest', 'owner', 'admin'] as const;
    return Promise.all(personas.map(async (persona) => (await as(persona).get('/experiments')).status));
  };
  assert.deepEqual(await statuses(), [401, 403, 403, 403, 200]);
  assert.deepEqual((await as('owner').get('/experiments')).body, { message: '403 Forbidden' });

  const set = await as('admin').put('/application/settings', { team_group: group.full_path });
  assert.equal(set.body.team_group, group.full_path);
  assert.deepEqual(await statuses(), [401, 403, 200, 200, 200]);

  // Members of an ancestor group and of an invited group are members, too.
  const below = (await as('owner').post('/groups', { name: 'team', path: 'team', parent_id: group.id })).body;
  await as('admin').put('/application/settings', { team_group: below.full_path });
  assert.deepEqual(await statuses(), [401, 403, 200, 200, 200]);
  const path = `beside-${group.id}`;
  const beside = (await as('outsider').post('/groups', { name: path, path })).body;
  const shared = await as('admin').post(`/groups/${below.id}/share`, { group_id: beside.id, group_access: 10 });
  assert.equal(shared.status, 201, JSON.stringify(shared.body));
  assert.deepEqual(await statuses(), [401, 200, 200, 200, 200]);

  // Expired memberships and those of subgroups do not count.
  await as('admin').delete(`/groups/${below.id}/share/${beside.id}`);
  await here.db
    .updateTable('group_authorizations')
    .set({ expires_at: '2020-01-01' })
    .where('user_id', '=', people.guest.id)
    .execute();
  assert.deepEqual(await statuses(), [401, 403, 403, 200, 200]);
});

test('the team stays the same group after a transfer, not another group at its old path', async (t) => {
  const here = await freshWorld(t);
  const { as, group } = here;
  const setting = async () => (await as('admin').get('/application/settings')).body.team_group;
  const path = `team-${group.id}`;
  const team = (await as('owner').post('/groups', { name: path, path })).body;
  await as('admin').put('/application/settings', { team_group: path });
  const renamed = `${path}-renamed`;
  assert.equal((await as('owner').put(`/groups/${team.id}`, { path: renamed })).status, 200);
  await as('outsider').post('/groups', { name: path, path });
  assert.equal(await setting(), renamed);
  assert.equal((await as('owner').get('/experiments')).status, 200);
  assert.equal((await as('outsider').get('/experiments')).status, 403);

  const refused = await as('admin').put('/application/settings', {
    team_group: 'nobody/knows',
    default_projects_limit: 3,
  });
  assert.deepEqual([refused.status, refused.body], [400, { message: { team_group: ['does not exist'] } }]);
  const kept = (await as('admin').get('/application/settings')).body;
  assert.deepEqual([kept.team_group, kept.default_projects_limit], [renamed, 100_000]);

  await here.db.deleteFrom('namespaces').where('id', '=', team.id).execute();
  assert.equal(await setting(), null);
  assert.equal((await as('owner').get('/experiments')).status, 403);
});

test('an experiment is on for the actors its gates admit, and the answer is stable', async (t) => {
  const here = await freshWorld(t);
  const { db, people, group } = here;
  const isOn = (actor: Actor) => isExperimentOn(db, name, actor);
  const of = (persona: keyof typeof people): Actor => `User:${people[persona].id}`;
  assert.equal(await isOn(of('guest')), false);

  await set(here, { value: true, user: people.guest.username });
  assert.deepEqual([await isOn(of('guest')), await isOn(of('owner'))], [true, false]);
  await set(here, { value: true, group: group.full_path });
  assert.equal(await isOn(`Group:${group.id}`), true);

  await here.as('admin').delete(`/features/${name}`);
  await set(here, { value: true, feature_group: 'team_members' });
  await here.as('admin').put('/application/settings', { team_group: group.full_path });
  assert.deepEqual(await Promise.all([of('guest'), of('outsider'), of('admin')].map(isOn)), [true, false, true]);
  assert.equal(await isOn(`Group:${group.id}`), false);

  await here.as('admin').delete(`/features/${name}`);
  await set(here, { value: 50, key: 'percentage_of_actors' });
  const asked = Array.from({ length: 60 }, (_, index): Actor => `User:${index + 1}`);
  const first = await Promise.all(asked.map(isOn));
  assert.ok(first.includes(true) && first.includes(false));
  assert.deepEqual(await Promise.all(asked.map(isOn)), first);
  await set(here, { value: 80, key: 'percentage_of_actors' });
  const later = await Promise.all(asked.map(isOn));
  assert.ok(first.every((wasOn, index) => !wasOn || later[index]));
  await set(here, { value: 100 });
  assert.ok((await Promise.all(asked.map(isOn))).every(Boolean));
});

test('an experiment whose gates cannot be read is off, and the list reports it', async (t) => {
  const here = await freshWorld(t);
  await set(here, { value: 50, key: 'percentage_of_actors' });
  await here.db.updateTable('feature_gates').set({ value: 'many' }).execute();
  const broken = await here.as('admin').get('/experiments');
  const message = '400 Bad request - experimentation may not be working right now';
  assert.deepEqual([broken.status, broken.body], [400, { message }]);
  assert.equal((await here.as('owner').get('/experiments')).status, 403);
  assert.equal(await isExperimentOn(here.db, name, 'User:1'), false);
  await set(here, { value: 50, key: 'percentage_of_actors' });
  assert.equal((await statusOf(here)).state, 'conditional');
});
