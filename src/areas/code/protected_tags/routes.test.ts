import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import type { Persona, World } from '../../../../test/support/world.ts';

const protectionsOf = ({ project }: World) => `/projects/${project.id}/protected_tags`;
const tagsOf = ({ project }: World) => `/projects/${project.id}/repository/tags`;

test('a tag protection is created, listed, shown and removed', async () => {
  const here = await filledWorld();
  const maintainer = here.as('maintainer');
  const added = await maintainer.post(protectionsOf(here), { name: 'v*' });
  assert.equal(added.status, 201);
  const [{ id, ...level }] = added.body.create_access_levels;
  assert.equal(added.body.name, 'v*');
  assert.deepEqual(level, { access_level: 40, access_level_description: 'Maintainers' });
  assert.ok(Number.isInteger(id));
  await maintainer.post(protectionsOf(here), { name: 'a/b', create_access_level: 0 });
  const listed = await maintainer.get(protectionsOf(here));
  assert.deepEqual(
    listed.body.map(({ name }: { name: string }) => name),
    ['a/b', 'v*'],
  );
  const shown = await maintainer.get(`${protectionsOf(here)}/a%2Fb`);
  assert.equal(shown.body.create_access_levels[0].access_level_description, 'No one');

  const again = await maintainer.post(protectionsOf(here), { name: 'v*', create_access_level: 30 });
  assert.deepEqual([again.status, again.body], [409, { message: "Protected tag 'v*' already exists" }]);
  for (const [parameters, status, message] of [
    [{}, 400, 'name is missing, name is empty'],
    [{ name: 'x', create_access_level: 35 }, 400, 'create_access_level does not have a valid value'],
    [{ name: 'x'.repeat(256) }, 422, 'Name is too long (maximum is 255 characters)'],
  ] as const) {
    const refused = await maintainer.post(protectionsOf(here), parameters);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  assert.equal((await maintainer.delete(`${protectionsOf(here)}/v*`)).status, 204);
  for (const gone of [
    await maintainer.get(`${protectionsOf(here)}/v*`),
    await maintainer.delete(`${protectionsOf(here)}/v*`),
  ])
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }]);
});

test('a protected tag is created by the users its protection admits, and deleted by maintainers', async () => {
  const here = await filledWorld();
  const { as } = here;
  for (const [name, create_access_level] of [
    ['v*', 40],
    ['v*-rc', 30],
    ['frozen', 0],
  ] as const)
    await as('maintainer').post(protectionsOf(here), { name, create_access_level });
  const make = (persona: Persona, tag_name: string) => as(persona).post(tagsOf(here), { tag_name, ref: 'main' });
  const refused = await make('developer', 'v1');
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: 'You are not allowed to create this tag as it is protected.' }],
  );
  assert.equal((await as('developer').get(`${tagsOf(here)}/v1`)).status, 404);
  for (const persona of ['maintainer', 'owner', 'admin'] as const)
    assert.equal((await make(persona, 'frozen')).status, 400);
  const made = await make('maintainer', 'v1');
  assert.deepEqual([made.status, made.body.protected], [201, true]);
  assert.equal((await make('developer', 'v1-rc')).status, 201, 'of two protections the more generous decides');
  assert.equal((await make('developer', 'nightly')).body.protected, false);
  const shown = await as('reporter').get(tagsOf(here), { order_by: 'name', sort: 'asc' });
  assert.deepEqual(
    shown.body.map((tag: { name: string; protected: boolean }) => [tag.name, tag.protected]),
    [
      ['nightly', false],
      ['v1', true],
      ['v1-rc', true],
    ],
  );

  const kept = await as('developer').delete(`${tagsOf(here)}/v1`);
  assert.equal(kept.status, 400);
  assert.match(kept.body.message, /^You are not allowed to delete protected tags from this project\./);
  assert.equal((await as('maintainer').delete(`${tagsOf(here)}/v1`)).status, 204);
  assert.equal((await as('developer').delete(`${tagsOf(here)}/nightly`)).status, 204);
});

test('pushes are subject to the same protection, and protected tags cannot be moved', async () => {
  const here = await filledWorld();
  const { as, people, project, url } = here;
  await as('maintainer').post(protectionsOf(here), { name: 'v*' });
  const { run } = await gitClient();
  await run(['clone', '-q', remoteOf(url, project.full_path, people.developer.token), 'work']);
  const push = (persona: Persona, ...refs: string[]) =>
    run(['push', remoteOf(url, project.full_path, people[persona].token), ...refs], { at: 'work' });
  const refused = await push('developer', 'HEAD:refs/tags/v1', 'HEAD:refs/tags/mine');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /GitLab: You are not allowed to create this tag as it is protected\./);
  assert.deepEqual((await as('reporter').get(tagsOf(here))).body, []);
  assert.equal((await push('maintainer', 'HEAD:refs/tags/v1')).code, 0);

  await run(['commit', '-q', '--allow-empty', '-m', 'On'], { at: 'work' });
  assert.match((await push('maintainer', '+HEAD:refs/tags/v1')).stderr, /GitLab: Protected tags cannot be updated\./);
  assert.match(
    (await push('maintainer', ':refs/tags/v1')).stderr,
    /You can only delete protected tags using the web interface\./,
  );
  assert.match(
    (await push('developer', ':refs/tags/v1')).stderr,
    /Only a project maintainer or owner can delete a protected tag\./,
  );
  assert.equal((await as('reporter').get(`${tagsOf(here)}/v1`)).status, 200);
});
