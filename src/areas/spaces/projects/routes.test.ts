import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';
import { git, repositoryOf, resolveBranch, updateRefs } from '../../../git/index.ts';
import { settleReferenceUpdates } from '../../code/repository/index.ts';
import { createGroup } from '../groups/actions.ts';

/** The number of projects in the group of a world. */
const countIn = async (here: World) => (await here.as('owner').get(`/groups/${here.group.id}/projects`)).body.length;

const setGroup = (here: World, columns: object) =>
  here.db.updateTable('namespaces').set(columns).where('id', '=', here.group.id).execute();

test('a project is never more visible than its group', async () => {
  const here = await world();
  const add = (visibility: string) =>
    here.as('owner').post('/projects', { name: `is ${visibility}`, namespace_id: here.group.id, visibility });
  assert.deepEqual((await add('public')).body, {
    message: { visibility_level: ['public is not allowed in a private group.'] },
  });
  await setGroup(here, { visibility: 'internal' });
  assert.deepEqual((await add('public')).body, {
    message: { visibility_level: ['public is not allowed in a internal group.'] },
  });
  assert.equal((await add('internal')).status, 201);
  const shown = await here.as('owner').put(`/projects/${here.project.id}`, { visibility: 'public' });
  assert.equal(shown.status, 400);
  assert.deepEqual(shown.body, { message: { visibility_level: ['public is not allowed in a internal group.'] } });
  assert.equal(
    (await here.as('owner').put(`/projects/${here.project.id}`, { visibility: 'internal' })).body.visibility,
    'internal',
  );
});

const pathText =
  "can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.";
const pathsText = 'must be paths of files that list dependencies';
const nameText =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.";
const both = (...reasons: string[]) => ({ 'project_namespace.path': reasons, path: reasons });

test('invalid names and paths are refused by parameter, on creation and on update', async () => {
  const here = await world();
  const refusals: [object, object][] = [
    [{ path: '-x' }, both(pathText)],
    [{ path: 'x.git' }, both(pathText)],
    [{ path: 'a/b' }, both(pathText)],
    [{ path: '..' }, both(pathText)],
    [{ path: 'Blob' }, both('Blob is a reserved name')],
    [{ path: 'p'.repeat(256) }, both('is too long (maximum is 255 characters)')],
    [{ name: 'no/slash' }, { name: [nameText] }],
    [{ name: ' ' }, { name: ["can't be blank"] }],
    [{ name: 'n'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ description: 'd'.repeat(2001) }, { description: ['is too long (maximum is 2000 characters)'] }],
    [{ topics: ['t'.repeat(256)] }, { topics: ['is too long (maximum is 255 characters)'] }],
    [{ dependency_paths: 'test/go.mod,test/readme.md' }, { dependency_paths: [pathsText] }],
    [{ dependency_paths: ['../go.mod'] }, { dependency_paths: [pathsText] }],
    [
      { dependency_paths: Array.from({ length: 101 }, () => 'test/go.mod') },
      { dependency_paths: ['are too many (maximum is 100)'] },
    ],
  ];
  for (const [wrong, message] of refusals) {
    const added = await here
      .as('owner')
      .post('/projects', { name: 'fine', path: 'fine', namespace_id: here.group.id, ...wrong });
    assert.deepEqual(
      [added.status, added.body],
      [400, { message }],
      `added with ${JSON.stringify(wrong).slice(0, 40)}`,
    );
    const changed = await here.as('owner').put(`/projects/${here.project.id}`, { ...wrong });
    assert.deepEqual(
      [changed.status, changed.body],
      [400, { message }],
      `changed to ${JSON.stringify(wrong).slice(0, 40)}`,
    );
  }
  const nameless = await here.as('owner').post('/projects', { name: '漢字', namespace_id: here.group.id });
  assert.deepEqual(nameless.body, { message: both("can't be blank") }, 'no character of the name is allowed in a path');
  const branch = await here
    .as('owner')
    .post('/projects', { name: 'fine', namespace_id: here.group.id, default_branch: '--upload-pack=x' });
  assert.deepEqual(branch.body, { message: { default_branch: ['is invalid'] } });
  for (const [wrong, error] of [
    [{}, 'name, path are missing, at least one parameter must be provided'],
    [{ name: null }, 'name, path are missing, at least one parameter must be provided'],
    [{ name: 'a\0b' }, 'name is invalid'],
    [{ name: '\ud800' }, 'name is invalid'],
    [{ name: { x: 1 } }, 'name is invalid'],
    [{ name: 'x', namespace_id: 'here' }, 'namespace_id is invalid'],
    [{ name: 'x', visibility: 'secret' }, 'visibility does not have a valid value'],
    [{ name: 'x', issues_access_level: 'public' }, 'issues_access_level does not have a valid value'],
    [{ name: 'x', repository_object_format: 'md5' }, 'repository_object_format does not have a valid value'],
    [
      { name: 'x', initialize_with_readme: 'perhaps', topics: { x: 1 } },
      'initialize_with_readme is invalid, topics is invalid',
    ],
  ] as const) {
    const refused = await here.as('owner').post('/projects', wrong);
    assert.deepEqual([refused.status, refused.body.error], [400, error]);
  }
  assert.equal(await countIn(here), 1);
});

test('settings of merge requests are checked although they have no effect yet', async () => {
  const here = await world();
  const [own, group] = [`/projects/${here.project.id}`, { name: 'merging', namespace_id: here.group.id }];
  for (const [wrong, error] of [
    [{ merge_method: 'magic' }, 'merge_method does not have a valid value'],
    [{ squash_option: 'sometimes' }, 'squash_option does not have a valid value'],
    [{ remove_source_branch_after_merge: 'perhaps' }, 'remove_source_branch_after_merge is invalid'],
  ] as const)
    for (const refused of [
      await here.as('owner').post('/projects', { ...group, ...wrong }),
      await here.as('owner').put(own, wrong),
      await here.as('owner').post(`${own}/fork`, wrong),
    ])
      assert.deepEqual([refused.status, refused.body.error], [400, error]);
  assert.equal(await countIn(here), 1);
  const fine = { merge_method: 'ff', squash_option: 'default_on', merge_commit_template: null };
  assert.equal((await here.as('owner').post('/projects', { ...group, ...fine })).status, 201);
  assert.equal((await here.as('owner').put(own, fine)).status, 200);
});

test('names and paths are unique in a namespace, among projects and subgroups', async () => {
  const here = await world();
  await here.db
    .transaction()
    .execute((tx) =>
      createGroup(tx, { name: 'Team', path: 'team', parent_id: here.group.id, creator_id: here.people.owner.id }),
    );
  const taken = ['has already been taken'];
  const add = async (body: object) =>
    (await here.as('owner').post('/projects', { namespace_id: here.group.id, ...body })).body;
  assert.deepEqual((await add({ path: here.project.path })).message, {
    'project_namespace.name': taken,
    name: taken,
    path: taken,
  });
  assert.deepEqual((await add({ path: here.project.path.toUpperCase() })).message, { path: taken });
  assert.deepEqual((await add({ path: 'other', name: here.project.path })).message, {
    'project_namespace.name': taken,
    name: taken,
  });
  assert.deepEqual((await add({ path: 'TEAM' })).message, { path: taken });
  for (const path of [`${here.project.path}.wiki`, 'Team.WIKI'])
    assert.deepEqual((await add({ path })).message, { path: taken }, 'the repository of a wiki is cloned from there');

  const other = await add({ path: 'other' });
  const change = async (body: Record<string, unknown>) =>
    (await here.as('owner').put(`/projects/${other.id}`, body)).body;
  assert.deepEqual((await change({ path: here.project.path })).message, { path: taken });
  assert.deepEqual((await change({ path: 'team' })).message, { path: taken });
  assert.deepEqual((await change({ path: 'team.wiki' })).message, { path: taken });
  const lone = await add({ path: 'lone.wiki' });
  assert.deepEqual((await change({ path: 'lone' })).message, { path: taken });
  assert.equal(lone.path_with_namespace, `${here.group.path}/lone.wiki`, 'nothing is in the way of it');
  assert.deepEqual((await change({ name: here.project.path })).message, {
    'project_namespace.name': taken,
    name: taken,
  });
  assert.equal(
    (await change({ path: 'OTHER' })).path_with_namespace,
    `${here.group.path}/OTHER`,
    'only its case changes',
  );
  assert.equal((await change({ path: 'OTHER', name: 'other' })).name, 'other', 'its own values are not taken');
  const elsewhere = await here.as('owner').post('/projects', { path: here.project.path });
  assert.equal(elsewhere.status, 201, 'another namespace has its own names');
});

test('an update changes only the given parameters', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const { permissions: _, open_issues_count: __, ...before } = (await here.as('maintainer').get(url)).body;
  const changed = await here.as('maintainer').put(url, {
    name: 'New name',
    description: 'About it',
    tag_list: ['b', 'a'],
    repository_access_level: 'private',
    snippets_access_level: 'disabled',
    wiki_access_level: 'private',
    issues_enabled: false,
    emails_enabled: false,
    lfs_enabled: false,
    request_access_enabled: false,
  });
  assert.equal(changed.status, 200);
  const { issues: _issues, ..._links } = before._links;
  assert.deepEqual(changed.body, {
    ...before,
    name: 'New name',
    name_with_namespace: `${here.group.path} / New name`,
    description: 'About it',
    description_html: '<p>About it</p>\n',
    topics: ['a', 'b'],
    tag_list: ['a', 'b'],
    repository_access_level: 'private',
    snippets_access_level: 'disabled',
    wiki_access_level: 'private',
    issues_access_level: 'disabled',
    snippets_enabled: false,
    issues_enabled: false,
    emails_enabled: false,
    emails_disabled: true,
    lfs_enabled: false,
    request_access_enabled: false,
    updated_at: changed.body.updated_at,
    _links,
  });
  assert.ok(changed.body.updated_at > before.updated_at);
  assert.equal((await here.as('maintainer').put(url, { description: null })).body.description, null);
  assert.deepEqual((await here.as('maintainer').put(url, { topics: [] })).body.topics, []);

  const nothing = await here.as('maintainer').put(url, {});
  assert.equal(nothing.status, 400);
  assert.match(
    nothing.body.error,
    /^name, path, default_branch, description, .* are missing, at least one parameter must be provided$/,
  );
});

test('only owners change the path of a project', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  assert.equal((await here.as('maintainer').put(url, { path: 'moved' })).status, 403);
  assert.equal((await here.as('maintainer').put(url, { path: here.project.path })).status, 200, 'it stays where it is');
  const moved = await here.as('owner').put(url, { path: 'moved' });
  assert.equal(moved.body.path_with_namespace, `${here.group.path}/moved`);
  assert.equal(moved.body.name, here.project.path);
  assert.equal((await here.as('guest').get(`/projects/${here.group.path}%2Fmoved`)).status, 200);
});

test('only owners change the visibility of a project', async () => {
  const here = await world();
  await setGroup(here, { visibility: 'public' });
  const url = `/projects/${here.project.id}`;
  assert.equal((await here.as('maintainer').put(url, { visibility: 'public', description: 'x' })).status, 403);
  assert.equal((await here.as('anonymous').get(url)).status, 404);
  assert.equal((await here.as('maintainer').get(url)).body.description, null);
  assert.equal((await here.as('owner').put(url, { visibility: 'public' })).body.visibility, 'public');
  const shown = await here.as('anonymous').get(url);
  assert.equal(shown.status, 200);
  assert.equal(shown.body._links, undefined, 'anonymous callers get the basic fields');
  assert.equal((await here.as('outsider').get(url)).body.can_create_merge_request_in, true);
});

test('an existing branch becomes the default branch', async () => {
  const here = await world();
  const { id } = (
    await here
      .as('maintainer')
      .post('/projects', { name: 'branched', namespace_id: here.group.id, initialize_with_readme: true })
  ).body;
  const repository = repositoryOf(here.services, { id, storage: 'default' });
  const head = (await resolveBranch(repository, 'main'))!;
  await updateRefs(repository, [{ ref: 'refs/heads/next', old: null, new: head }]);
  for (const default_branch of ['missing', '', '-x', 'refs/heads/next']) {
    const refused = await here.as('maintainer').put(`/projects/${id}`, { default_branch, description: 'x' });
    assert.equal(refused.status, 400, default_branch);
    assert.deepEqual(refused.body, { message: { base: ['Could not set the default branch'] } });
  }
  assert.equal((await here.as('maintainer').get(`/projects/${id}`)).body.description, null);
  const changed = await here.as('maintainer').put(`/projects/${id}`, { default_branch: 'next' });
  assert.equal(changed.body.default_branch, 'next');
  assert.equal((await git(repository, 'symbolic-ref', [], ['HEAD'])).toString(), 'refs/heads/next\n');
});

test('a change of the default branch that is interrupted between the database and git is settled', async () => {
  const here = await world();
  const { id } = (
    await here
      .as('maintainer')
      .post('/projects', { name: 'cut off', namespace_id: here.group.id, initialize_with_readme: true })
  ).body;
  const repository = repositoryOf(here.services, { id, storage: 'default' });
  const main = (await resolveBranch(repository, 'main'))!;
  await updateRefs(repository, [{ ref: 'refs/heads/next', old: null, new: main }]);
  const head = async () => (await git(repository, 'symbolic-ref', [], ['HEAD'])).toString();
  const lock = path.join(repository.path, 'HEAD.lock');
  await writeFile(lock, '');
  assert.equal((await here.as('maintainer').put(`/projects/${id}`, { default_branch: 'next' })).status, 500);
  assert.equal((await here.as('maintainer').get(`/projects/${id}`)).body.default_branch, 'next');
  assert.equal(await head(), 'refs/heads/main\n');
  await rm(lock);
  await settleReferenceUpdates(here.services);
  assert.equal(await head(), 'refs/heads/next\n');
  assert.deepEqual(
    await here.db.selectFrom('reference_updates').select('id').where('project_id', '=', id).execute(),
    [],
  );
});

test('members below Maintainer cannot update a project', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['guest', 403],
    ['planner', 403],
    ['reporter', 403],
    ['developer', 403],
    ['maintainer', 200],
  ] as const)
    assert.equal((await here.as(persona).put(url, { description: persona })).status, status, persona);
  assert.equal((await here.as('guest').get(url)).body.description, 'maintainer');
  await here.db.updateTable('projects').set({ archived: true }).where('id', '=', here.project.id).execute();
  const archived = await here.as('maintainer').put(url, { description: 'over' });
  assert.deepEqual(
    [archived.status, archived.body.archived, archived.body.can_create_merge_request_in],
    [200, true, false],
  );
});

test('fields about the code are hidden from callers who may not read it', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const guest = (await here.as('guest').get(url)).body;
  for (const field of ['default_branch', 'readme_url', 'forks_count']) assert.ok(!(field in guest), field);
  assert.equal((await here.as('reporter').get(url)).body.default_branch, 'main');
  assert.equal((await here.as('guest').get(url)).body.repository_storage, undefined);
  assert.equal((await here.as('admin').get(url)).body.repository_storage, 'default');
  assert.deepEqual((await here.as('admin').get(url)).body.permissions, { project_access: null, group_access: null });
});

test('the users and ancestor groups of a project are listed', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const names = async (parameters: Record<string, unknown> = {}) =>
    (await here.as('guest').get(`${url}/users`, parameters)).body.map(({ id }: { id: number }) => id);
  const { guest, planner, reporter, developer, maintainer, owner } = here.people;
  const members = [guest, planner, reporter, developer, maintainer, owner].map(({ id }) => id);
  assert.deepEqual(await names(), members);
  assert.deepEqual(await names({ search: 'REPORT' }), [reporter.id]);
  assert.deepEqual(await names({ skip_users: [guest.id, owner.id] }), members.slice(1, -1));
  assert.deepEqual(await names({ per_page: 2, page: 2 }), members.slice(2, 4));
  assert.equal((await here.as('outsider').get(`${url}/users`)).status, 404);

  const groups = await here.as('guest').get(`${url}/groups`);
  const { path } = here.group;
  const group = {
    id: here.group.id,
    web_url: `http://coppice.test/groups/${path}`,
    name: path,
    avatar_url: null,
    full_name: path,
    full_path: path,
  };
  assert.deepEqual(groups.body, [group]);
  assert.deepEqual((await here.as('guest').get(`${url}/groups`, { skip_groups: [here.group.id] })).body, []);
  assert.deepEqual((await here.as('guest').get(`${url}/groups`, { search: 'elsewhere' })).body, []);
  assert.equal((await here.as('outsider').get(`${url}/groups`)).status, 404);
});

test('only administrators see the storage location of a repository', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}/storage`;
  const { status, body } = await here.as('admin').get(url);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ['project_id', 'disk_path', 'created_at', 'repository_storage']);
  assert.match(body.disk_path, /^@hashed\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}$/);
  assert.equal((await here.as('owner').get(url)).status, 403);
  assert.equal((await here.as('outsider').get(url)).status, 403, 'the same for callers who cannot see the project');
  assert.equal((await here.as('anonymous').get(url)).status, 401);
  assert.equal((await here.as('admin').get('/projects/99999999/storage')).status, 404);
});
