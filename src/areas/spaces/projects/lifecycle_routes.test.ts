import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { fileUrl, filledWorld, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { today } from '../../../cron/index.ts';
import { maintainRepository, removeUnused } from '../../code/repository/index.ts';
import { removeMarkedProjects, removeProject } from './index.ts';

const removal = [removeProject, removeUnused];
const setVisibility = async ({ db, group, project }: World, visibility: 'private' | 'internal' | 'public') => {
  await db.updateTable('namespaces').set({ visibility }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility }).where('id', '=', project.id).execute();
};
const markedLongAgo = ({ db }: World, id: number) =>
  sql`update projects set marked_for_deletion_at = now() - interval '91 days' where id = ${id}`.execute(db);

test('a project that is marked for deletion is visible to members only, is read-only, and can be restored', async () => {
  const here = await filledWorld();
  await setVisibility(here, 'public');
  const url = `/projects/${here.project.id}`;
  assert.equal((await here.as('outsider').get(url)).status, 200);
  assert.equal((await here.as('maintainer').delete(url)).status, 403);
  assert.equal((await here.as('guest').get(url)).body.marked_for_deletion_on, null);

  const marked = await here.as('owner').delete(url);
  assert.deepEqual([marked.status, marked.body], [202, { message: '202 Accepted' }]);
  const seen = (await here.as('guest').get(url)).body;
  assert.deepEqual(
    [seen.marked_for_deletion_on, seen.marked_for_deletion_at, seen.archived],
    [today(), today(), false],
  );
  for (const persona of ['outsider', 'anonymous'] as const) {
    assert.equal((await here.as(persona).get(url)).status, 404);
    const ids = (await here.as(persona).get('/projects', { order_by: 'id' })).body.map(({ id }: { id: number }) => id);
    assert.ok(!ids.includes(here.project.id));
  }
  const listed = async (filter: object) =>
    (await here.as('guest').get(`/groups/${here.group.id}/projects`, { ...filter })).body.map(
      ({ id }: { id: number }) => id,
    );
  assert.deepEqual(await listed({}), [here.project.id]);
  assert.deepEqual(await listed({ active: true }), []);
  assert.deepEqual(await listed({ active: false, marked_for_deletion_on: today() }), [here.project.id]);
  const change = await here.as('maintainer').post(fileUrl(here.project, 'new.txt'), { ...onMain, content: 'x' });
  assert.equal(change.status, 403);

  assert.equal((await here.as('maintainer').post(`${url}/restore`)).status, 403);
  const restored = await here.as('owner').post(`${url}/restore`);
  assert.deepEqual([restored.status, restored.body.marked_for_deletion_on], [201, null]);
  assert.equal((await here.as('outsider').get(url)).status, 200);
  assert.equal(
    (await here.as('maintainer').post(fileUrl(here.project, 'new.txt'), { ...onMain, content: 'x' })).status,
    201,
  );
  const twice = await here.as('owner').post(`${url}/restore`);
  assert.deepEqual([twice.status, twice.body], [400, { message: 'Project has not been marked for deletion' }]);
});

test('a project that is marked for deletion frees its name and path at once, and gets them back when it is restored', async () => {
  const here = await filledWorld();
  const url = `/projects/${here.project.id}`;
  const pathOf = async (id: number) => {
    const { name, path, path_with_namespace } = (await here.as('owner').get(`/projects/${id}`)).body;
    return [name, path, path_with_namespace];
  };
  const before = await pathOf(here.project.id);
  const [name, path, full_path] = before;
  const ending = `-deletion_scheduled-${here.project.id}`;
  const restore = () => here.as('owner').post(`${url}/restore`);
  assert.equal((await here.as('owner').delete(url)).status, 202);
  assert.deepEqual(await pathOf(here.project.id), [name + ending, path + ending, full_path + ending]);
  const old = `/projects/${encodeURIComponent(full_path)}`;
  assert.equal((await here.as('guest').get(old)).status, 301);
  assert.equal((await here.as('outsider').get(old)).status, 404);
  assert.equal((await restore()).status, 201);
  assert.deepEqual(await pathOf(here.project.id), before);

  assert.equal((await here.as('owner').delete(url)).status, 202);
  const next = (await here.as('owner').post('/projects', { name, path, namespace_id: here.group.id })).body;
  assert.equal(next.path_with_namespace, full_path);
  const taken = ['has already been taken'];
  const refused = await restore();
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, { 'project_namespace.name': taken, name: taken, path: taken }],
  );
  assert.notEqual((await here.as('owner').get(url)).body.marked_for_deletion_on, null);
  const reserved = {
    name: `${name}-deletion_scheduled-1`,
    path: `${path}-deletion_scheduled-1`,
    namespace_id: here.group.id,
  };
  assert.deepEqual((await here.as('owner').post('/projects', reserved)).body.message.name, [
    `${reserved.name} is a reserved name`,
  ]);

  assert.equal((await here.as('owner').delete(`/projects/${next.id}`)).status, 202);
  assert.equal((await restore()).status, 201);
  assert.deepEqual(await pathOf(here.project.id), before);
  assert.equal((await here.as('owner').get(old)).body.id, here.project.id);

  assert.equal((await here.as('owner').delete(url)).status, 202);
  const renamed = await here.as('owner').put(url, { name: 'renamed', path: 'renamed' });
  assert.deepEqual(
    [renamed.status, renamed.body.message],
    [403, '403 Forbidden - The project is marked for deletion.'],
  );
  assert.equal((await restore()).body.name, name);
});

test('the hourly job deletes projects after the restore period: rows, authorizations and the repository, and nothing else', async () => {
  const here = await filledWorld();
  const { path } = repositoryIn(here);
  const { id: waiting } = (await here.as('owner').post('/projects', { name: 'waiting', namespace_id: here.group.id }))
    .body;
  for (const id of [here.project.id, waiting])
    assert.equal((await here.as('owner').delete(`/projects/${id}`)).status, 202);
  await markedLongAgo(here, here.project.id);
  await performJob(here.services, removeMarkedProjects);
  assert.deepEqual(await performQueued(here.services, removal), ['remove_project', 'remove_unused_repositories']);
  assert.equal((await here.as('admin').get(`/projects/${here.project.id}`)).status, 404);
  assert.equal((await here.as('owner').get(`/projects/${waiting}`)).status, 200);
  assert.ok(!existsSync(path));
  const left = await here.db
    .selectFrom('project_authorizations')
    .select('user_id')
    .where('project_id', '=', here.project.id)
    .execute();
  assert.deepEqual(left, []);
  const next = await here
    .as('owner')
    .post('/projects', { name: 'next', path: here.project.path, namespace_id: here.group.id });
  assert.equal(next.status, 201);
});

test('an interrupted deletion is finished by the next run, and a third run has nothing to do', async () => {
  const here = await filledWorld();
  const { path } = repositoryIn(here);
  assert.equal((await here.as('owner').delete(`/projects/${here.project.id}`)).status, 202);
  await performJob(here.services, removeProject, { project_id: here.project.id });
  assert.equal((await here.as('owner').get(`/projects/${here.project.id}`)).status, 404);
  assert.ok(existsSync(path), 'the pending job deletes the folder');
  await performJob(here.services, removeUnused);
  assert.ok(!existsSync(path));
  assert.deepEqual(await performQueued(here.services, removal), ['remove_unused_repositories']);
});

test('a marked project is deleted immediately when the request names its path, unless it is restored before', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const now = {
    permanently_remove: true,
    full_path: `${here.project.full_path}-deletion_scheduled-${here.project.id}`,
  };
  const early = await here.as('owner').delete(url, now);
  assert.deepEqual([early.status, early.body], [400, { message: 'Project must be marked for deletion first.' }]);
  const old = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' } };
  assert.equal((await here.as('owner').delete(url, {}, old)).status, 412);
  assert.equal((await here.as('owner').get(url)).body.marked_for_deletion_on, null);
  assert.equal((await here.as('owner').delete(url)).status, 202);
  const wrong = await here.as('owner').delete(url, { ...now, full_path: here.project.full_path });
  assert.equal(wrong.status, 400);
  assert.equal(wrong.body.message, '`full_path` is incorrect. You must enter the complete path for the project.');
  assert.deepEqual(await performQueued(here.services, removal), []);

  assert.equal((await here.as('owner').delete(url, now)).status, 202);
  assert.equal((await here.as('owner').post(`${url}/restore`)).status, 201);
  await performQueued(here.services, removal);
  assert.equal((await here.as('owner').get(url)).status, 200);

  await here.as('owner').delete(url);
  assert.equal((await here.as('owner').delete(url, now)).status, 202);
  await performQueued(here.services, removal);
  assert.equal((await here.as('owner').get(url)).status, 404);
});

test('a project in a group that is marked for deletion is marked and removed by itself, and stays marked when the group is restored', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const group = `/groups/${here.group.id}`;
  assert.equal((await here.as('owner').delete(group)).status, 202);
  const shown = async () => (await here.as('owner').get(url)).body;
  const early = await here
    .as('owner')
    .delete(url, { permanently_remove: true, full_path: (await shown()).path_with_namespace });
  assert.deepEqual([early.status, early.body], [400, { message: 'Project must be marked for deletion first.' }]);
  assert.equal((await here.as('owner').delete(url)).status, 202);
  assert.equal((await shown()).path, `${here.project.path}-deletion_scheduled-${here.project.id}`);
  assert.equal((await here.as('owner').delete(url)).body.message, 'Project has been already marked for deletion');

  assert.equal((await here.as('owner').post(`${group}/restore`)).status, 201);
  assert.notEqual((await shown()).marked_for_deletion_on, null);
  assert.equal((await here.as('owner').delete(group)).status, 202);
  const now = { permanently_remove: true, full_path: (await shown()).path_with_namespace };
  assert.equal((await here.as('owner').delete(url, now)).status, 202);
  await performQueued(here.services, removal);
  assert.equal((await here.as('owner').get(url)).status, 404);
  assert.equal((await here.as('owner').get(group)).status, 200);
});

test('an archived project is read-only until it is unarchived', async () => {
  const here = await filledWorld();
  const url = `/projects/${here.project.id}`;
  assert.equal((await here.as('maintainer').post(`${url}/archive`)).status, 403);
  for (const _ of ['once', 'twice']) {
    const archived = await here.as('owner').post(`${url}/archive`);
    assert.deepEqual(
      [archived.status, archived.body.archived, archived.body.can_create_merge_request_in],
      [201, true, false],
    );
  }
  const refused = await here.as('maintainer').post(fileUrl(here.project, 'new.txt'), { ...onMain, content: 'x' });
  assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden - The project is archived.']);
  assert.equal((await here.as('reporter').get(fileUrl(here.project, 'README.md'), { ref: 'main' })).status, 200);
  const ids = async (archived: boolean) =>
    (await here.as('guest').get(`/groups/${here.group.id}/projects`, { archived })).body.map(
      ({ id }: { id: number }) => id,
    );
  assert.deepEqual([await ids(true), await ids(false)], [[here.project.id], []]);
  assert.equal((await here.as('owner').post(`${url}/unarchive`)).body.archived, false);
  assert.equal(
    (await here.as('maintainer').post(fileUrl(here.project, 'new.txt'), { ...onMain, content: 'x' })).status,
    201,
  );

  assert.equal((await here.as('owner').post(`/groups/${here.group.id}/archive`)).status, 200);
  assert.equal((await here.as('guest').get(url)).body.archived, true);
  assert.equal((await here.as('owner').post(`${url}/unarchive`)).status, 400);
  assert.equal((await here.as('maintainer').delete(fileUrl(here.project, 'new.txt'), onMain)).status, 403);
  for (const [path, parameters] of [
    [`/groups/${here.group.id}/labels`, { name: 'late', color: '#112233' }],
    [`/groups/${here.group.id}/epics`, { title: 'Late' }],
    ['/groups', { name: 'late', path: 'late', parent_id: here.group.id }],
  ] as const) {
    const late = await here.as('owner').post(path, parameters);
    assert.deepEqual([late.status, late.body.message], [403, '403 Forbidden - The group is archived.']);
  }
});

test('a transferred project gets the authorizations of its new namespace, and its old path redirects', async () => {
  const here = await filledWorld();
  await setVisibility(here, 'internal');
  const url = `/projects/${here.project.id}`;
  const there = (
    await here.as('owner').post('/groups', { name: 'there', path: `there-${here.group.id}`, visibility: 'private' })
  ).body;
  const newcomer = await here.person();
  await here.as('owner').post(`/groups/${there.id}/members`, { user_id: newcomer.id, access_level: 20 });
  const locations = await here.as('owner').get(`${url}/transfer_locations`, { search: 'there' });
  assert.deepEqual(
    locations.body.map(({ id }: { id: number }) => id),
    [there.id],
  );
  assert.equal((await here.as('owner').post(`/groups/${there.id}/archive`)).status, 200);
  assert.deepEqual((await here.as('owner').get(`${url}/transfer_locations`, { search: 'there' })).body, []);
  assert.equal((await here.as('owner').post(`/groups/${there.id}/unarchive`)).status, 200);
  assert.equal((await here.as('maintainer').put(`${url}/transfer`, { namespace: there.id })).status, 403);
  assert.deepEqual((await here.as('owner').put(`${url}/transfer`, { namespace: 'nowhere' })).body, {
    message: '404 Namespace Not Found',
  });
  const same = await here.as('owner').put(`${url}/transfer`, { namespace: here.group.id });
  assert.deepEqual(same.body, {
    message: 'Failed to transfer project {:new_namespace=>["Project is already in this namespace."]}',
  });
  const foreign = await here.as('owner').put(`${url}/transfer`, { namespace: here.people.guest.username });
  assert.equal(foreign.status, 400);

  const moved = await here.as('owner').put(`${url}/transfer`, { namespace: there.full_path });
  const full_path = `${there.full_path}/${here.project.path}`;
  assert.deepEqual([moved.status, moved.body.path_with_namespace, moved.body.visibility], [200, full_path, 'private']);
  assert.equal((await newcomer.client.get(url)).status, 200);
  assert.equal((await here.as('maintainer').get(url)).status, 404);

  const old = `/projects/${encodeURIComponent(here.project.full_path)}`;
  const led = await here.as('owner').get(`${old}/repository/branches?per_page=5`);
  const target = `${here.url}/api/v4${url}/repository/branches?per_page=5`;
  assert.deepEqual([led.status, led.headers.get('location')], [301, target]);
  assert.equal(led.body, `This resource has been moved permanently to ${target}`);
  assert.equal((await here.as('owner').head(old)).status, 301);
  const endless = await here.as('owner').get(`${old}/repository/files/${'x'.repeat(16_000)}`, { ref: 'main' });
  assert.deepEqual([endless.status, endless.body], [414, { message: '414 URI Too Long' }]);
  const written = await here.as('owner').put(old, { description: 'x' });
  assert.deepEqual(
    [written.status, written.body],
    [405, { message: 'Non GET methods are not allowed for moved projects' }],
  );
  assert.equal((await here.as('guest').get(old)).status, 404, 'callers who cannot see it are not redirected');

  const { body: next } = await here
    .as('owner')
    .post('/projects', { name: 'next', path: here.project.path, namespace_id: here.group.id });
  assert.equal((await here.as('owner').get(old)).body.id, next.id);
  await here.as('owner').put(`/projects/${next.id}`, { path: 'elsewhere' });
  assert.equal((await here.as('owner').get(old)).headers.get('location'), `${here.url}/api/v4/projects/${next.id}`);
  const inTheWay = await here
    .as('owner')
    .post('/projects', { name: 'again', path: here.project.path, namespace_id: here.group.id });
  assert.equal(inTheWay.status, 201);
  const taken = await here.as('owner').put(`${url}/transfer`, { namespace: here.group.id });
  assert.deepEqual(taken.body, {
    message:
      'Failed to transfer project {:new_namespace=>["Project with same name or path in target namespace already exists"]}',
  });
});

test('a project is not transferred to a group that its owner cannot see, nor beyond the limit of personal projects', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const hidden = (await here.as('outsider').post('/groups', { name: 'hidden', path: `hidden-${here.group.id}` })).body;
  for (const namespace of [hidden.id, hidden.full_path, 99_999_999, '9223372036854775807', '9'.repeat(400)]) {
    const refused = await here.as('owner').put(`${url}/transfer`, { namespace });
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Namespace Not Found' }]);
  }
  const shown = (
    await here.as('outsider').post('/groups', { name: 'shown', path: `shown-${here.group.id}`, visibility: 'public' })
  ).body;
  const reason = "You don't have permission to transfer projects into that namespace.";
  const refusal = { message: `Failed to transfer project {:new_namespace=>[${JSON.stringify(reason)}]}` };
  assert.deepEqual((await here.as('owner').put(`${url}/transfer`, { namespace: shown.id })).body, refusal);
  const { id, username } = here.people.owner;
  await here.as('admin').put(`/users/${id}`, { projects_limit: 0 });
  assert.deepEqual((await here.as('owner').put(`${url}/transfer`, { namespace: username })).body, refusal);
  assert.equal((await here.as('owner').get(url)).body.namespace.id, here.group.id);
  await here.as('admin').put(`/users/${id}`, { projects_limit: 1 });
  assert.equal((await here.as('owner').put(`${url}/transfer`, { namespace: username })).body.owner.id, id);
});

test('owners start housekeeping of a repository', async () => {
  const here = await filledWorld();
  const url = `/projects/${here.project.id}/housekeeping`;
  await performQueued(here.services, [maintainRepository]);
  assert.equal((await here.as('maintainer').post(url)).status, 403);
  assert.deepEqual(await performQueued(here.services, [maintainRepository]), []);
  assert.equal((await here.as('owner').post(url)).status, 201);
  assert.deepEqual(await performQueued(here.services, [maintainRepository]), ['maintain_repository']);
});

test('after a user is renamed, the old paths of their projects redirect', async () => {
  const here = await world();
  const person = await here.person();
  const { id } = (await person.client.post('/projects', { name: 'mine' })).body;
  assert.equal((await here.as('admin').put(`/users/${person.id}`, { username: `${person.username}-new` })).status, 200);
  const old = await person.client.get(`/projects/${encodeURIComponent(`${person.username}/mine`)}`);
  assert.deepEqual([old.status, old.headers.get('location')], [301, `${here.url}/api/v4/projects/${id}`]);
});

test('a transferred project keeps the labels and milestones of the group that it leaves', async () => {
  const here = await world();
  const { as, project, group } = here;
  const url = `/projects/${project.id}`;
  const there = (await as('owner').post('/groups', { name: 'new', path: `new-${group.id}` })).body;
  const label = async (place: string, name: string, more = {}) =>
    (await as('owner').post(`${place}/labels`, { name, color: '#aabbcc', ...more })).body;
  const milestone = async (place: string, title: string) =>
    (await as('owner').post(`${place}/milestones`, { title, due_date: '2031-05-01', description: 'Ripe' })).body;
  const [old_group, new_group] = [`/groups/${group.id}`, `/groups/${there.id}`];
  const copied = await label(old_group, 'copied', { description: 'Old' });
  await label(old_group, 'shared');
  const shared = await label(new_group, 'shared');
  const own = await label(url, 'own');
  await label(old_group, 'unused');
  await here.db
    .insertInto('label_priorities')
    .values({ label_id: copied.id, project_id: project.id, priority: 3 })
    .execute();
  const [first, second] = [await milestone(old_group, 'first'), await milestone(old_group, 'second')];
  const same = await milestone(new_group, 'second');
  const issues = [];
  for (const milestone_id of [first.id, second.id])
    issues.push(
      (await as('owner').post(`${url}/issues`, { title: 'Pick', labels: 'copied,shared,own', milestone_id })).body,
    );
  const { updated_at } = issues[0];

  assert.equal((await as('owner').put(`${url}/transfer`, { namespace: there.id })).status, 200);
  const labels = (await as('owner').get(`${url}/labels`)).body as {
    id: number;
    name: string;
    is_project_label: boolean;
    priority: number;
  }[];
  const byName = new Map(labels.map((each) => [each.name, each]));
  assert.deepEqual([...byName.keys()].toSorted(), ['copied', 'own', 'shared']);
  const copy = byName.get('copied')!;
  assert.ok(copy.id !== copied.id && copy.is_project_label);
  assert.deepEqual([copy.priority, byName.get('shared')!.id, byName.get('own')!.id], [3, shared.id, own.id]);
  const [one, two] = await Promise.all(
    issues.map(async ({ iid }) => (await as('owner').get(`${url}/issues/${iid}`)).body),
  );
  assert.deepEqual([one.labels, one.updated_at], [['copied', 'own', 'shared'], updated_at]);
  assert.deepEqual(
    [one.milestone.title, one.milestone.project_id, one.milestone.due_date],
    ['first', project.id, '2031-05-01'],
  );
  assert.equal(two.milestone.id, same.id);
  const found = (await as('owner').get(`${url}/issues`, { labels: 'copied,shared' })).body;
  assert.equal(found.length, 2);
  assert.equal((await as('owner').get(`${old_group}/labels/copied`)).body.id, copied.id, 'the group keeps its own');
});
