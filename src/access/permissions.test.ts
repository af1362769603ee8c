import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../test/support/git.ts';
import { personWith } from '../../test/support/member_roles.ts';
import { fileUrl, filledWorld } from '../../test/support/repository.ts';
import { world } from '../../test/support/world.ts';
import { endpoints } from '../areas/index.ts';
import { permissions } from './permissions.ts';

test('each permission is used by the access rule of an endpoint', () => {
  const words = new Set(endpoints.flatMap(({ access }) => access.rule.split(/[^a-z_]+/)));
  assert.deepEqual(
    permissions.filter((permission) => !words.has(permission)),
    [],
  );
});

test('read_code: holders read private code file by file, and cannot download it', async () => {
  const here = await filledWorld();
  const { as, project, url } = here;
  const reader = await personWith(here, `/projects/${project.id}`, ['read_code']);
  const other = await personWith(here, `/projects/${project.id}`, ['archive_project']);
  const repository = `/projects/${project.id}/repository`;
  const readable = [
    `${fileUrl(project, 'README.md')}?ref=main`,
    `${fileUrl(project, 'README.md')}/raw?ref=main`,
    `${repository}/tree`,
    `${repository}/commits`,
    `${repository}/branches`,
    `${repository}/compare?from=main&to=main`,
    `/projects/${project.id}/languages`,
  ];
  for (const path of readable) {
    assert.equal((await reader.client.get(path)).status, 200, path);
    assert.equal((await other.client.get(path)).status, 403, path);
    assert.equal((await as('guest').get(path)).status, 403, path);
  }
  const shown = await reader.client.get(`/projects/${project.id}`);
  assert.equal(shown.body.default_branch, 'main');
  assert.equal(shown.body.can_create_merge_request_in, false);
  assert.ok(!('default_branch' in (await other.client.get(`/projects/${project.id}`)).body));
  assert.equal((await reader.client.get('/projects', { membership: true })).body[0].default_branch, 'main');

  assert.equal((await reader.client.get(`${repository}/archive`)).status, 403);
  assert.equal((await reader.client.get(`${repository}/archive.zip`)).status, 403);
  assert.equal((await reader.client.post(`/projects/${project.id}/fork`)).status, 409);
  const change = { branch: 'mine', start_branch: 'main', commit_message: 'x', content: 'x' };
  assert.equal((await reader.client.post(fileUrl(project, 'x'), change)).status, 403);
  const { run } = await gitClient();
  const clone = await run(['clone', '-q', remoteOf(url, project.full_path, reader.token), 'copy']);
  assert.notEqual(clone.code, 0);
  assert.match(clone.stderr, /You are not allowed to download code from this project/);
  await as('owner').put(`/projects/${project.id}`, { repository_access_level: 'disabled' });
  assert.equal((await reader.client.get(`${repository}/tree`)).status, 404);
});

test('archive_project: holders archive and unarchive, and do nothing else of an owner', async () => {
  const here = await world();
  const { project, group } = here;
  const archivist = await personWith(here, `/groups/${group.id}`, ['archive_project']);
  const path = `/projects/${project.id}`;
  assert.equal((await archivist.client.post(`${path}/archive`)).body.archived, true);
  assert.equal((await archivist.client.post(`${path}/unarchive`)).body.archived, false);
  for (const refused of [
    await archivist.client.delete(path),
    await archivist.client.post(`${path}/restore`),
    await archivist.client.post(`/groups/${group.id}/archive`),
    await archivist.client.put(path, { description: 'x' }),
  ])
    assert.equal(refused.status, 403);
});

test('remove_project: holders delete a project', async () => {
  const here = await world();
  const { as, project, group } = here;
  const remover = await personWith(here, `/groups/${group.id}`, ['remove_project']);
  const path = `/projects/${project.id}`;
  assert.equal((await remover.client.delete(path)).status, 202);
  assert.notEqual((await as('owner').get(path)).body.marked_for_deletion_on, null);
  assert.equal((await remover.client.post(`${path}/restore`)).status, 403);
  assert.equal((await remover.client.delete(`/groups/${group.id}`)).status, 403);
});

test('remove_group: holders delete and restore subgroups, and never top-level groups', async () => {
  const here = await world();
  const { as, group } = here;
  const remover = await personWith(here, `/groups/${group.id}`, ['remove_group']);
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  assert.equal((await remover.client.delete(`/groups/${group.id}`)).status, 403);
  assert.equal((await remover.client.delete(`/groups/${sub.id}`)).status, 202);
  assert.notEqual((await as('owner').get(`/groups/${sub.id}`)).body.marked_for_deletion_on, null);
  assert.equal((await remover.client.post(`/groups/${sub.id}/restore`)).status, 201);
  assert.equal((await as('owner').get(`/groups/${sub.id}`)).body.marked_for_deletion_on, null);
  await as('owner').delete(`/groups/${group.id}`);
  assert.equal((await remover.client.post(`/groups/${group.id}/restore`)).status, 403);
});

test('admin_group_member: a guest with it adds, updates and deletes guests, decides on requests, and cannot raise their own access', async () => {
  const here = await world();
  const { as, group, project, people, person } = here;
  const manager = await personWith(here, `/groups/${group.id}`, ['admin_group_member']);
  const url = `/groups/${group.id}/members`;
  const newcomer = await person();
  assert.equal((await manager.client.post(url, { user_id: newcomer.id, access_level: 15 })).status, 403);
  assert.equal((await manager.client.post(url, { user_id: newcomer.id, access_level: 10 })).status, 201);
  assert.equal((await manager.client.put(`${url}/${newcomer.id}`, { access_level: 20 })).status, 403);
  assert.equal(
    (await manager.client.put(`${url}/${newcomer.id}`, { access_level: 10, expires_at: '2999-01-01' })).status,
    200,
  );
  assert.equal((await manager.client.delete(`${url}/${newcomer.id}`)).status, 204);
  for (const persona of ['reporter', 'owner'] as const) {
    assert.equal((await manager.client.put(`${url}/${people[persona].id}`, { access_level: 10 })).status, 403);
    assert.equal((await manager.client.delete(`${url}/${people[persona].id}`)).status, 403);
  }
  assert.equal(
    (await manager.client.put(`${url}/${manager.id}`, { access_level: 50, member_role_id: null })).status,
    403,
  );

  await as('owner').put(`/groups/${group.id}`, { visibility: 'public' });
  const requests = `/groups/${group.id}/access_requests`;
  for (const asker of [await person(), await person()]) assert.equal((await asker.client.post(requests)).status, 201);
  const [first, second] = (await manager.client.get(requests)).body;
  assert.equal((await manager.client.put(`${requests}/${first.id}/approve`)).status, 403);
  assert.equal((await manager.client.put(`${requests}/${first.id}/approve`, { access_level: 10 })).status, 201);
  assert.equal((await manager.client.delete(`${requests}/${second.id}`)).status, 204);

  // In groups only, and nothing else of an owner.
  assert.equal(
    (await manager.client.post(`/projects/${project.id}/members`, { user_id: newcomer.id, access_level: 10 })).status,
    403,
  );
  assert.equal((await manager.client.put(`/groups/${group.id}`, { description: 'x' })).status, 403);
  const shared = await manager.client.post(`/groups/${group.id}/share`, { group_id: group.id, group_access: 10 });
  assert.equal(shared.status, 403);
});

test("manage_group_access_tokens and manage_project_access_tokens: each for its own kind, at most at the holder's level", async () => {
  const here = await world();
  const { project, group } = here;
  const ofGroup = await personWith(here, `/groups/${group.id}`, ['manage_group_access_tokens'], 20);
  const ofProject = await personWith(here, `/groups/${group.id}`, ['manage_project_access_tokens'], 20);
  const expires_at = new Date(Date.now() + 9e8).toISOString().slice(0, 10);
  for (const [mine, other, place, elsewhere] of [
    [ofGroup, ofProject, `/groups/${group.id}`, `/projects/${project.id}`],
    [ofProject, ofGroup, `/projects/${project.id}`, `/groups/${group.id}`],
  ] as const) {
    const request = { name: 'program', scopes: ['api'], expires_at };
    const url = `${place}/access_tokens`;
    assert.equal((await mine.client.post(url, { ...request, access_level: 30 })).status, 400);
    const made = await mine.client.post(url, { ...request, access_level: 20 });
    assert.equal(made.status, 201);
    assert.equal((await mine.client.get(url)).body.length, 1);
    assert.equal((await mine.client.get(`${url}/${made.body.id}`)).status, 200);
    assert.equal((await other.client.get(url)).status, 401);
    const rotated = await mine.client.post(`${url}/${made.body.id}/rotate`);
    assert.equal(rotated.status, 200);
    assert.equal((await mine.client.delete(`${url}/${rotated.body.id}`)).status, 204);
    assert.equal((await mine.client.get(`${elsewhere}/access_tokens`)).status, 401);
  }
});

test('manage_merge_request_settings: holders change who uses merge requests and how they are merged, and nothing else of a project', async () => {
  const here = await world();
  const { as, project } = here;
  const path = `/projects/${project.id}`;
  const manager = await personWith(here, path, ['manage_merge_request_settings']);
  assert.equal(
    (await manager.client.put(path, { merge_requests_access_level: 'private' })).body.merge_requests_access_level,
    'private',
  );
  assert.equal(
    (await manager.client.put(path, { merge_requests_enabled: false })).body.merge_requests_access_level,
    'disabled',
  );
  const merging = {
    merge_method: 'rebase_merge',
    squash_option: 'default_on',
    only_allow_merge_if_pipeline_succeeds: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
    autoclose_referenced_issues: false,
    suggestion_commit_message: 'x'.repeat(255),
    merge_commit_template: '%{title}',
    merge_requests_template: '## What',
  };
  const settings = async () => {
    const { body } = await as('guest').get(path);
    return Object.fromEntries(Object.keys(merging).map((name) => [name, body[name]]));
  };
  assert.equal((await manager.client.put(path, merging)).status, 200);
  assert.deepEqual(await settings(), merging);
  for (const [change, message] of [
    [{ merge_method: 'octopus' }, 'merge_method does not have a valid value'],
    [
      { merge_commit_template: 'x'.repeat(501) },
      { merge_commit_template: ['is too long (maximum is 500 characters)'] },
    ],
    [
      { suggestion_commit_message: 'x'.repeat(256) },
      { suggestion_commit_message: ['is too long (maximum is 255 characters)'] },
    ],
  ] as const) {
    const refused = await manager.client.put(path, { ...change, squash_option: 'never' });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual(await settings(), merging);
  assert.equal((await as('developer').put(path, { merge_method: 'ff' })).status, 403);
  for (const change of [
    { name: 'x' },
    { path: 'x' },
    { visibility: 'public' },
    { description: 'x' },
    { issues_access_level: 'disabled' },
    { merge_requests_access_level: 'enabled', lfs_enabled: false },
  ])
    assert.equal((await manager.client.put(path, { ...change })).status, 403, JSON.stringify(change));
  assert.equal((await as('owner').get(path)).body.merge_requests_access_level, 'disabled');
});

test('permissions of several roles add up, and end with each membership', async () => {
  const here = await world();
  const { as, group, project, person } = here;
  const both = await personWith(here, `/groups/${group.id}`, ['remove_project']);
  const role = (
    await as('admin').post('/member_roles', { name: 'archivist of one', base_access_level: 20, archive_project: true })
  ).body;
  const member = { user_id: both.id, access_level: 20, member_role_id: role.id };
  assert.equal((await as('owner').post(`/projects/${project.id}/members`, member)).status, 201);
  const other = (await as('owner').post('/projects', { name: 'other', namespace_id: group.id })).body;
  assert.equal((await both.client.post(`/projects/${project.id}/archive`)).status, 201);
  assert.equal((await both.client.post(`/projects/${other.id}/archive`)).status, 403);
  assert.equal((await both.client.delete(`/projects/${project.id}`)).status, 202);
  assert.equal((await as('owner').post(`/projects/${project.id}/restore`)).status, 201);
  await as('owner').delete(`/groups/${group.id}/members/${both.id}?skip_subresources=true`);
  assert.equal((await both.client.delete(`/projects/${project.id}`)).status, 403);
  assert.equal((await both.client.post(`/projects/${project.id}/unarchive`)).status, 201);

  // An invited group passes on the level of a member, without the permissions of their role.
  const guests = (
    await as('outsider').post('/groups', { name: 'guests', path: `guests-${group.id}`, visibility: 'public' })
  ).body;
  const invited = await person();
  const wide = (await as('admin').post('/member_roles', { name: 'wide', base_access_level: 30, archive_project: true }))
    .body;
  await as('outsider').post(`/groups/${guests.id}/members`, {
    user_id: invited.id,
    access_level: 30,
    member_role_id: wide.id,
  });
  assert.equal(
    (await as('owner').post(`/projects/${other.id}/share`, { group_id: guests.id, group_access: 50 })).status,
    201,
  );
  const { permissions: shown } = (await invited.client.get(`/projects/${other.id}`)).body;
  assert.equal(shown.project_access, null);
  assert.equal((await invited.client.get(`/projects/${other.id}/members/all/${invited.id}`)).body.access_level, 30);
  assert.equal(
    (await invited.client.get(`/projects/${other.id}/members/all/${invited.id}`)).body.member_role,
    undefined,
  );
  assert.equal((await invited.client.post(`/projects/${other.id}/archive`)).status, 403);
});
