import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf, onMain } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';

const protectionsOf = ({ project }: World) => `/projects/${project.id}/protected_branches`;
const branchesOf = ({ project }: World) => `/projects/${project.id}/repository/branches`;
const levelsIn = (entries: { access_level: number | null }[]) => entries.map(({ access_level }) => access_level);

/** Writes a file to a branch, new files each time. */
async function write(here: World, persona: 'developer' | 'maintainer' | 'admin', branch = 'main'): Promise<number> {
  const name = `by-${persona}-${Math.random()}`;
  const parameters = { ...onMain, branch, content: 'x' };
  return (await here.as(persona).post(fileUrl(here.project, name), parameters)).status;
}

test('the first push protects the default branch: maintainers write, developers do not', async () => {
  const here = await filledWorld();
  const { as } = here;
  const { body } = await as('maintainer').get(`${protectionsOf(here)}/main`);
  const maintainers = (id: number) => ({
    id,
    access_level: 40,
    access_level_description: 'Maintainers',
    user_id: null,
    group_id: null,
    deploy_key_id: null,
  });
  assert.deepEqual(body, {
    id: body.id,
    name: 'main',
    push_access_levels: [maintainers(body.push_access_levels[0].id)],
    merge_access_levels: [maintainers(body.merge_access_levels[0].id)],
    unprotect_access_levels: [],
    allow_force_push: false,
    inherited: false,
    code_owner_approval_required: false,
  });
  const branch = (await as('developer').get(`${branchesOf(here)}/main`)).body;
  assert.deepEqual([branch.protected, branch.can_push, branch.developers_can_push], [true, false, false]);
  assert.equal((await as('maintainer').get(`${branchesOf(here)}/main`)).body.can_push, true);

  const before = await headOf(here);
  const refused = await as('developer').post(fileUrl(here.project, 'a'), { ...onMain, content: '' });
  assert.deepEqual([refused.status, refused.body], [400, { message: 'You are not allowed to push into this branch' }]);
  assert.equal(await headOf(here), before);
  assert.equal(await write(here, 'maintainer'), 201);
});

test('the group decides how a new project is protected, and the server decides for personal projects', async () => {
  const said = (defaults: object) => ({ default_branch_protection_defaults: defaults });
  for (const [settings, push, first, later, flags] of [
    [{ default_branch_protection: 0 }, undefined, 201, 201, [undefined, undefined]],
    [{ default_branch_protection: 1 }, [30], 201, 201, [false, false]],
    [{ default_branch_protection: 2 }, [40], 400, 400, [false, false]],
    [{ default_branch_protection: 3 }, [40], 400, 400, [true, false]],
    [{ default_branch_protection: 4 }, [40], 201, 400, [false, false]],
    [
      said({ allowed_to_push: [40, 30, 40].map((access_level) => ({ access_level })) }),
      [40, 30],
      201,
      201,
      [false, false],
    ],
    [said({ developer_can_initial_push: true, allow_force_push: true }), [40], 201, 400, [true, false]],
    [{ default_branch_protection: 0, ...said({ code_owner_approval_required: true }) }, [30], 201, 201, [true, true]],
  ] as const) {
    const here = await world();
    const level = JSON.stringify(settings);
    assert.equal((await here.as('owner').put(`/groups/${here.group.id}`, { ...settings })).status, 200);
    assert.equal(await write(here, 'developer'), first, `first, ${level}`);
    assert.equal(await write(here, 'maintainer'), 201);
    assert.equal(await write(here, 'developer'), later, `later, ${level}`);
    const { body } = await here.as('maintainer').get(`${protectionsOf(here)}/main`);
    assert.deepEqual(body.push_access_levels && levelsIn(body.push_access_levels), push, level);
    assert.deepEqual([body.allow_force_push, body.code_owner_approval_required], flags, level);
  }
  const here = await world();
  await here.db.updateTable('application_settings').set({ default_branch_protection: 0 }).execute();
  try {
    const own = await here.as('developer').post('/projects', { name: 'own', initialize_with_readme: true });
    assert.deepEqual((await here.as('developer').get(`/projects/${own.body.id}/protected_branches`)).body, []);
    const other = await here.as('maintainer').post('/projects', {
      name: 'other',
      namespace_id: here.group.id,
      initialize_with_readme: true,
    });
    const { body } = await here.as('maintainer').get(`/projects/${other.body.id}/protected_branches`);
    assert.deepEqual(
      body.map(({ name }: { name: string }) => name),
      ['main'],
    );
  } finally {
    await here.db.updateTable('application_settings').set({ default_branch_protection: 2 }).execute();
  }
});

test('protections are created, listed, searched, updated and removed', async () => {
  const here = await filledWorld();
  const { as } = here;
  const url = protectionsOf(here);
  const added = await as('maintainer').post(url, {
    name: 'release/*',
    push_access_level: 30,
    merge_access_level: 0,
    allow_force_push: true,
  });
  assert.equal(added.status, 201);
  assert.deepEqual(levelsIn(added.body.push_access_levels), [30]);
  assert.equal(added.body.push_access_levels[0].access_level_description, 'Developers + Maintainers');
  assert.deepEqual(levelsIn(added.body.merge_access_levels), [0]);
  assert.deepEqual(levelsIn(added.body.unprotect_access_levels), [40]);
  const twice = await as('maintainer').post(url, { name: 'release/*' });
  assert.deepEqual([twice.status, twice.body], [409, { message: "Protected branch 'release/*' already exists" }]);

  const names = (body: { name: string }[]) => body.map(({ name }) => name);
  assert.deepEqual(names((await as('maintainer').get(url)).body), ['main', 'release/*']);
  assert.deepEqual(names((await as('maintainer').get(url, { search: 'E/*' })).body), ['release/*']);
  const changed = await as('maintainer').patch(`${url}/release%2F*`, { allow_force_push: false });
  assert.deepEqual(changed.body, { ...added.body, allow_force_push: false });

  assert.equal((await as('maintainer').delete(`${url}/release%2F*`)).status, 204);
  assert.deepEqual((await as('maintainer').get(`${url}/release%2F*`)).body, { message: '404 Not found' });
  assert.equal((await as('maintainer').delete(`${url}/release%2F*`)).status, 404);
  assert.deepEqual(names((await as('maintainer').get(url)).body), ['main']);
});

test('users and groups are granted besides levels, changed and removed one by one', async () => {
  const here = await filledWorld();
  const { as, people, group } = here;
  const url = protectionsOf(here);
  const friends = (await as('owner').post('/groups', { name: 'Friends', path: `friends-${group.id}` })).body;
  const stranger = await here.person();
  const refused = await as('maintainer').post(url, {
    name: 'work',
    allowed_to_push: [{ user_id: stranger.id }, { group_id: friends.id }],
  });
  assert.equal(refused.status, 422);
  assert.equal(
    refused.body.message,
    'Push access levels user is not a member of the project, Push access levels group does not have access to the project',
  );
  await as('owner').post(`/projects/${here.project.id}/share`, { group_id: friends.id, group_access: 30 });
  const added = await as('maintainer').post(url, {
    name: 'work',
    allowed_to_push: [{ user_id: people.developer.id }, { group_id: friends.id }],
  });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const [one, other] = added.body.push_access_levels;
  assert.deepEqual(
    [one.access_level, one.user_id, other.group_id, other.access_level_description],
    [null, people.developer.id, friends.id, 'Friends'],
  );
  assert.equal((await as('developer').post(branchesOf(here), { branch: 'work', ref: 'main' })).status, 201);
  assert.equal(await write(here, 'developer', 'work'), 201);
  assert.equal(await write(here, 'maintainer', 'work'), 400);

  const changes = [{ id: one.id, access_level: 40 }, { id: other.id, _destroy: true }, { access_level: 60 }];
  const changed = await as('maintainer').patch(`${url}/work`, { allowed_to_push: changes });
  assert.deepEqual(levelsIn(changed.body.push_access_levels), [40, 60]);
  assert.equal(changed.body.push_access_levels[0].id, one.id);
  assert.equal(await write(here, 'developer', 'work'), 400);
  assert.equal(await write(here, 'maintainer', 'work'), 201);

  for (const [entries, status] of [
    [[{ id: other.id, access_level: 30 }], 404],
    [[{ access_level: 40 }], 422],
    [[{}], 400],
    [[{ access_level: 40, user_id: people.owner.id }], 400],
  ] as const)
    assert.equal((await as('maintainer').patch(`${url}/work`, { allowed_to_push: entries })).status, status);
  assert.deepEqual((await as('maintainer').get(`${url}/work`)).body, changed.body);
});

test('only users who may unprotect a branch can change its protection; other maintainers are refused', async () => {
  const here = await filledWorld();
  const { as } = here;
  const url = `${protectionsOf(here)}/main`;
  await as('maintainer').patch(url, { allowed_to_unprotect: [{ access_level: 60 }] });
  assert.equal((await as('maintainer').patch(url, { allow_force_push: true })).status, 403);
  assert.equal((await as('maintainer').delete(url)).status, 403);
  assert.equal((await as('maintainer').put(`${branchesOf(here)}/main/unprotect`)).status, 403);
  assert.equal((await as('maintainer').get(url)).body.allow_force_push, false);
  assert.equal((await as('admin').delete(url)).status, 204);
});

test('protected branches are created and deleted by authorized users, and survive the deletion of merged branches', async () => {
  const here = await filledWorld();
  const { as } = here;
  const branches = branchesOf(here);
  await as('maintainer').post(protectionsOf(here), { name: 'stable*', merge_access_level: 30 });
  const begin = (branch: string, ref: string) => as('developer').post(branches, { branch, ref });
  assert.equal(
    (await begin('stable-1', 'main')).status,
    201,
    'a user who may merge can create it from a protected branch',
  );
  await begin('loose', 'main');
  assert.equal(await write(here, 'developer', 'loose'), 201);
  const refused = await begin('stable-2', 'loose');
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, 'You can only use an existing protected branch ref as the basis of a new protected branch.'],
  );
  await as('maintainer').post(protectionsOf(here), { name: 'closed' });
  const closed = await begin('closed', 'main');
  assert.equal(closed.body.message, 'You are not allowed to create protected branches on this project.');

  const kept = await as('developer').delete(`${branches}/stable-1`);
  assert.equal(kept.status, 400);
  assert.match(
    kept.body.message,
    /^You are not allowed to delete protected branches from this project\. Only a project/,
  );
  assert.equal(await write(here, 'maintainer'), 201);
  await as('maintainer').delete(`/projects/${here.project.id}/repository/merged_branches`);
  assert.equal((await as('reporter').get(`${branches}/stable-1`)).status, 200);
  assert.equal((await as('maintainer').delete(`${branches}/stable-1`)).status, 204);
});

test('the legacy form protects one branch for maintainers, or for developers too', async () => {
  const here = await filledWorld();
  const { as } = here;
  const branches = branchesOf(here);
  await as('developer').post(branches, { branch: 'old', ref: 'main' });
  const closed = await as('maintainer').put(`${branches}/old/protect`);
  assert.deepEqual([closed.status, closed.body.protected, closed.body.developers_can_push], [200, true, false]);
  assert.equal(await write(here, 'developer', 'old'), 400);
  const open = await as('maintainer').put(`${branches}/old/protect`, { developers_can_push: true });
  assert.deepEqual([open.body.developers_can_push, open.body.developers_can_merge], [true, false]);
  assert.equal(await write(here, 'developer', 'old'), 201);
  const free = await as('maintainer').put(`${branches}/old/unprotect`);
  assert.deepEqual([free.status, free.body.protected], [200, false]);
  assert.equal((await as('maintainer').put(`${branches}/old/unprotect`)).status, 200);
  assert.equal((await as('maintainer').put(`${branches}/none/protect`)).status, 404);
  assert.equal((await as('developer').put(`${branches}/old/protect`)).status, 403);
});

test('only maintainers can see and change protections', async () => {
  const here = await filledWorld();
  const { as } = here;
  const url = protectionsOf(here);
  for (const [persona, status] of [
    ['outsider', 404],
    ['reporter', 403],
    ['developer', 403],
  ] as const) {
    assert.equal((await as(persona).get(url)).status, status);
    assert.equal((await as(persona).get(`${url}/main`)).status, status);
    assert.equal((await as(persona).post(url, { name: 'x' })).status, status);
    assert.equal((await as(persona).patch(`${url}/main`, { allow_force_push: true })).status, status);
    assert.equal((await as(persona).delete(`${url}/main`)).status, status);
  }
  const [only, ...others] = (await as('maintainer').get(url)).body;
  assert.deepEqual([only.name, only.allow_force_push, others], ['main', false, []]);
  const missing = await as('maintainer').post(url, { push_access_level: 35 });
  assert.equal(missing.body.message, 'name is missing, name is empty, push_access_level does not have a valid value');
  const long = await as('maintainer').post(url, { name: 'x'.repeat(256) });
  assert.deepEqual([long.status, long.body.message], [422, 'Name is too long (maximum is 255 characters)']);
});

test('the code owner approval setting is stored, and changes only when it is named', async () => {
  const here = await filledWorld();
  const { as } = here;
  const one = `${protectionsOf(here)}/v*`;
  const added = await as('maintainer').post(protectionsOf(here), { name: 'v*', code_owner_approval_required: true });
  assert.deepEqual([added.status, added.body.code_owner_approval_required], [201, true]);
  const forced = await as('maintainer').patch(one, { allow_force_push: true });
  assert.deepEqual([forced.body.allow_force_push, forced.body.code_owner_approval_required], [true, true]);
  const ended = await as('maintainer').patch(one, { code_owner_approval_required: false });
  assert.deepEqual([ended.body.allow_force_push, ended.body.code_owner_approval_required], [true, false]);
});
