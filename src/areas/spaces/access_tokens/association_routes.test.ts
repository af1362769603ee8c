import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

test('a token with any scope lists what it can access', async () => {
  const { as, group, project, people, url } = await world();
  const { id: user_id } = people.developer;
  const { token } = (
    await as('admin').post(`/users/${user_id}/personal_access_tokens`, { name: 'x', scopes: ['read_registry'] })
  ).body;
  const asked = async (parameters: string) => {
    const answer = await fetch(`${url}/api/v4/personal_access_tokens/self/associations?${parameters}`, {
      headers: { 'private-token': token },
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { groups: Record<string, unknown>[]; projects: Record<string, unknown>[] },
    };
  };
  await as('owner').post(`/projects/${project.id}/members`, { user_id, access_level: 40 });
  const { status, body } = await asked('');
  assert.equal(status, 200);
  assert.deepEqual(
    body.groups.map(({ id, access_levels, visibility }) => [id, access_levels, visibility]),
    [[group.id, 30, 'private']],
  );
  assert.deepEqual(Object.keys(body.groups[0]!).toSorted(), [
    'access_levels',
    'id',
    'name',
    'parent_id',
    'visibility',
    'web_url',
  ]);
  assert.deepEqual(
    body.projects.map(({ id, path_with_namespace, access_levels }) => [id, path_with_namespace, access_levels]),
    [[project.id, project.full_path, { project_access_level: 40, group_access_level: 30 }]],
  );
  const maintained = (await asked('min_access_level=40')).body;
  assert.deepEqual([maintained.groups.length, maintained.projects.length], [0, 1]);
  assert.deepEqual((await asked('page=2')).body, { groups: [], projects: [] });
  assert.deepEqual((await as('outsider').get('/personal_access_tokens/self/associations')).body, {
    groups: [],
    projects: [],
  });
  assert.equal((await as('anonymous').get('/personal_access_tokens/self/associations')).status, 401);
});
