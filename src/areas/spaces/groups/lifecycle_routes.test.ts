import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { browserOf } from '../../../../test/support/browser.ts';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { filledWorld, repositoryIn } from '../../../../test/support/repository.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { lockTree } from '../../../access/index.ts';
import { today } from '../../../cron/index.ts';
import { removeUnused } from '../../code/repository/index.ts';
import { removeGroup } from '../../people/namespaces/index.ts';
import { removeMarkedGroups } from './index.ts';

const removal = [removeGroup, removeUnused];
const addGroup = async (here: World, path: string, parent_id?: number, more: object = {}) =>
  (
    await here
      .as('owner')
      .post('/groups', { name: path, path, ...(parent_id === undefined ? {} : { parent_id }), ...more })
  ).body;
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id);

test('a group that is marked for deletion marks everything in it, until it is restored', async () => {
  const here = await world({});
  const below = await addGroup(here, 'below', here.group.id);
  await here.db
    .updateTable('namespaces')
    .set({ visibility: 'public' })
    .where('id', 'in', [here.group.id, below.id])
    .execute();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  assert.equal((await here.as('maintainer').delete(`/groups/${here.group.id}`)).status, 403);
  assert.equal((await here.as('anonymous').get(`/projects/${here.project.id}`)).status, 200);

  const marked = await here.as('owner').delete(`/groups/${here.group.id}`);
  assert.deepEqual([marked.status, marked.body], [202, { message: '202 Accepted' }]);
  const shown = (await here.as('guest').get(`/groups/${here.group.id}`)).body;
  assert.equal(shown.marked_for_deletion_on, today());
  for (const path of [`/groups/${here.group.id}`, `/groups/${below.id}`, `/projects/${here.project.id}`]) {
    assert.equal((await here.as('outsider').get(path)).status, 404, path);
    assert.equal((await here.as('guest').get(path)).status, 200, path);
  }
  assert.ok(
    !idsOf((await here.as('outsider').get('/groups', { all_available: true, search: here.group.path })).body).includes(
      here.group.id,
    ),
  );
  assert.deepEqual(idsOf((await here.as('outsider').get('/projects', { search: here.project.path })).body), []);
  assert.equal(
    (await here.as('owner').post('/groups', { name: 'more', path: 'more', parent_id: below.id })).status,
    403,
  );
  assert.equal((await here.as('owner').post('/projects', { name: 'more', namespace_id: below.id })).status, 400);
  assert.equal((await here.as('maintainer').post(`/projects/${here.project.id}/freeze_periods`, {})).status, 403);
  assert.equal(
    (await here.as('owner').get(`/projects/${here.project.id}`)).body.marked_for_deletion_on,
    null,
    'the state of the group decides',
  );

  assert.equal((await here.as('owner').post(`/groups/${here.group.id}/restore`)).status, 201);
  assert.equal((await here.as('anonymous').get(`/projects/${here.project.id}`)).status, 200);
  const twice = await here.as('owner').post(`/groups/${here.group.id}/restore`);
  assert.deepEqual([twice.status, twice.body], [400, { message: 'Group has not been marked for deletion' }]);
});

test('a group that is marked for deletion frees its name and path at once, and gets them back when it is restored', async () => {
  const here = await filledWorld();
  const sub = await addGroup(here, 'sub', here.group.id);
  const below = await addGroup(here, 'below', sub.id);
  const inside = (await here.as('owner').post('/projects', { name: 'inside', namespace_id: below.id })).body;
  const paths = async (name = 'sub') => [
    (await here.as('owner').get(`/groups/${sub.id}`)).body.name === name,
    (await here.as('owner').get(`/groups/${below.id}`)).body.full_path,
    (await here.as('owner').get(`/projects/${inside.id}`)).body.path_with_namespace,
  ];
  const before = await paths();
  const ending = `-deletion_scheduled-${sub.id}`;
  const moved = `${here.group.path}/sub${ending}/below`;
  assert.equal((await here.as('owner').delete(`/groups/${sub.id}`)).status, 202);
  assert.deepEqual(await paths(`sub${ending}`), [true, moved, `${moved}/inside`]);
  const old = await here.as('guest').get(`/projects/${encodeURIComponent(inside.path_with_namespace)}`);
  assert.equal(old.headers.get('location'), `${here.url}/api/v4/projects/${inside.id}`);
  const { run } = await gitClient();
  const asked = await run(['ls-remote', remoteOf(here.url, inside.path_with_namespace, here.people.owner.token)]);
  assert.equal(asked.code, 0, asked.stderr);

  const next = await addGroup(here, 'sub', here.group.id);
  const refused = await here.as('owner').post(`/groups/${sub.id}/restore`);
  const taken = ['has already been taken'];
  assert.deepEqual([refused.status, refused.body], [400, { message: { name: taken, path: taken } }]);
  assert.deepEqual(await paths(`sub${ending}`), [true, moved, `${moved}/inside`]);
  assert.equal((await here.as('owner').delete(`/groups/${next.id}`)).status, 202);
  assert.equal((await here.as('owner').post(`/groups/${sub.id}/restore`)).status, 201);
  assert.deepEqual(await paths(), before);

  const top = `/groups/${here.group.id}`;
  assert.equal((await here.as('owner').delete(top)).status, 202);
  assert.equal((await here.as('owner').get(`/groups/${here.group.path}`)).status, 404);
  const page = await browserOf(here, here.people.owner);
  assert.equal((await page.get(`/${here.group.path}`)).status, 404);
  for (const [name, body] of [
    ['put', { path: here.group.path }],
    ['post', undefined],
  ] as const) {
    const at = name === 'put' ? top : `${top}/transfer`;
    const { status, body: reason } = await here.as('owner')[name](at, body);
    assert.deepEqual([status, reason.message], [403, '403 Forbidden - The group is marked for deletion.'], name);
  }
  const another = await addGroup(here, here.group.path);
  assert.equal(another.full_path, here.group.path);
  assert.deepEqual((await here.as('owner').post(`${top}/restore`)).body, { message: { path: taken } });
  assert.equal((await here.as('owner').put(`/groups/${another.id}`, { path: `${here.group.path}-kept` })).status, 200);
  assert.equal((await here.as('owner').post(`${top}/restore`)).body.full_path, here.group.path);
});

test('the hourly job deletes a group with everything in it, and its members lose access to what was shared with it', async () => {
  const here = await filledWorld();
  const { path } = repositoryIn(here);
  const below = await addGroup(here, 'below', here.group.id);
  const other = await here.person();
  const theirs = (await other.client.post('/projects', { name: 'theirs' })).body;
  await here.as('owner').post(`/groups/${here.group.id}/members`, { user_id: other.id, access_level: 10 });
  const shared = await other.client.post(`/projects/${theirs.id}/share`, { group_id: here.group.id, group_access: 30 });
  assert.equal(shared.status, 201);
  assert.equal((await here.as('guest').get(`/projects/${theirs.id}`)).status, 200);

  assert.equal((await here.as('owner').delete(`/groups/${here.group.id}`)).status, 202);
  await performJob(here.services, removeMarkedGroups);
  assert.deepEqual(await performQueued(here.services, removal), [], 'it can still be restored');
  await sql`update namespaces set marked_for_deletion_at = now() - interval '91 days' where id = ${here.group.id}`.execute(
    here.db,
  );
  await performJob(here.services, removeMarkedGroups);
  assert.deepEqual(await performQueued(here.services, removal), ['remove_group', 'remove_unused_repositories']);
  for (const gone of [`/groups/${here.group.id}`, `/groups/${below.id}`, `/projects/${here.project.id}`])
    assert.equal((await here.as('admin').get(gone)).status, 404, gone);
  assert.ok(!existsSync(path));
  assert.equal((await here.as('guest').get(`/projects/${theirs.id}`)).status, 404);
  assert.deepEqual((await other.client.get(`/projects/${theirs.id}`)).body.shared_with_groups, []);
  const again = await here.as('guest').post('/groups', { name: 'again', path: here.group.path });
  assert.equal(again.status, 201);
});

test('only a marked subgroup is deleted immediately, when the request names its path', async () => {
  const here = await world({});
  const below = await addGroup(here, 'below', here.group.id);
  const now = (full_path: string) => ({ permanently_remove: true, full_path });
  const refusal = async (id: number, full_path: string) =>
    (await here.as('owner').delete(`/groups/${id}`, now(full_path))).body.message;
  assert.match(await refusal(here.group.id, here.group.full_path), /only available for subgroups/);
  assert.equal(await refusal(below.id, below.full_path), 'Group must be marked for deletion first.');
  await here.as('owner').delete(`/groups/${below.id}`);
  assert.match(await refusal(below.id, below.full_path), /`full_path` is incorrect/);
  assert.deepEqual(await performQueued(here.services, removal), []);
  assert.equal(
    (await here.as('owner').delete(`/groups/${below.id}`, now(`${below.full_path}-deletion_scheduled-${below.id}`)))
      .status,
    202,
  );
  assert.deepEqual(await performQueued(here.services, removal), ['remove_group']);
  assert.equal((await here.as('owner').get(`/groups/${below.id}`)).status, 404);
});

test('a subgroup of a marked group is marked and deleted by itself', async () => {
  const here = await world({});
  const below = await addGroup(here, 'below', here.group.id);
  const url = `/groups/${below.id}`;
  for (const id of [here.group.id, below.id])
    assert.equal((await here.as('owner').delete(`/groups/${id}`)).status, 202);
  const { full_path } = (await here.as('owner').get(url)).body;
  assert.ok(full_path.endsWith(`/below-deletion_scheduled-${below.id}`), full_path);
  assert.equal((await here.as('owner').delete(url, { permanently_remove: true, full_path })).status, 202);
  assert.deepEqual(await performQueued(here.services, removal), ['remove_group']);
  assert.equal((await here.as('owner').get(url)).status, 404);
  assert.equal((await here.as('owner').get(`/groups/${here.group.id}`)).status, 200);
});

test('an archived group archives everything in it', async () => {
  const here = await world({});
  const below = await addGroup(here, 'below', here.group.id);
  const archived = await here.as('owner').post(`/groups/${here.group.id}/archive`);
  assert.deepEqual([archived.status, archived.body.archived], [200, true]);
  assert.equal(
    (await here.as('owner').post(`/groups/${here.group.id}/archive`)).body.message,
    'Group is already archived!',
  );
  assert.equal((await here.as('owner').post(`/groups/${below.id}/unarchive`)).status, 422);
  assert.equal((await here.as('guest').get(`/groups/${below.id}`)).body.archived, true);
  assert.deepEqual(
    idsOf((await here.as('guest').get(`/groups/${here.group.id}/subgroups`, { active: true })).body),
    [],
  );
  assert.equal((await here.as('owner').post('/projects', { name: 'more', namespace_id: here.group.id })).status, 400);
  assert.equal((await here.as('owner').post(`/groups/${here.group.id}/unarchive`)).body.archived, false);
  assert.deepEqual(idsOf((await here.as('guest').get(`/groups/${here.group.id}/subgroups`, { active: true })).body), [
    below.id,
  ]);
});

test('a transferred group takes everything along: paths, authorizations and visibility follow, and old paths redirect', async () => {
  const here = await world({});
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const parent = await addGroup(here, `parent-${here.group.id}`, undefined, { visibility: 'internal' });
  const reader = await here.person();
  await here.as('owner').post(`/groups/${parent.id}/members`, { user_id: reader.id, access_level: 20 });
  const move = (group_id?: number) =>
    here.as('owner').post(`/groups/${here.group.id}/transfer`, group_id === undefined ? {} : { group_id });

  assert.equal(
    (await here.as('maintainer').post(`/groups/${here.group.id}/transfer`, { group_id: parent.id })).status,
    403,
  );
  assert.deepEqual((await move()).body, { message: 'Transfer failed: Group is already a root group.' });
  const foreign = (
    await here.as('guest').post('/groups', { name: 'foreign', path: `foreign-${here.group.id}`, visibility: 'public' })
  ).body;
  assert.deepEqual((await move(foreign.id)).body, { message: "Transfer failed: You don't have enough permissions." });
  assert.equal((await move(99_999_999)).status, 404);
  const locations = async () =>
    (await here.as('owner').get(`/groups/${here.group.id}/transfer_locations`, { search: `parent-${here.group.id}` }))
      .body;
  assert.deepEqual(idsOf(await locations()), [parent.id]);
  const taker = (
    await here.as('owner').post('/projects', { name: 'taker', path: here.group.path, namespace_id: parent.id })
  ).body;
  assert.deepEqual(await locations(), [], 'a project there has the path');
  assert.equal((await here.as('owner').put(`/projects/${taker.id}`, { path: 'taker' })).status, 200);
  assert.deepEqual(idsOf(await locations()), [parent.id]);
  assert.equal((await here.as('owner').post(`/groups/${parent.id}/archive`)).status, 200);
  assert.deepEqual(await locations(), []);
  assert.equal((await here.as('owner').post(`/groups/${parent.id}/unarchive`)).status, 200);

  const moved = await move(parent.id);
  assert.deepEqual(
    [moved.status, moved.body.full_path, moved.body.parent_id, moved.body.visibility],
    [201, `${parent.path}/${here.group.path}`, parent.id, 'internal'],
  );
  const project = (await reader.client.get(`/projects/${here.project.id}`)).body;
  assert.deepEqual(
    [project.path_with_namespace, project.visibility, project.permissions.group_access.access_level],
    [`${parent.path}/${here.group.path}/${here.project.path}`, 'internal', 20],
  );
  assert.equal((await here.as('anonymous').get(`/projects/${here.project.id}`)).status, 404);
  const old = await here.as('guest').get(`/groups/${here.group.path}/subgroups`);
  assert.deepEqual([old.status, old.body], [404, { message: '404 Group Not Found' }]);
  assert.equal((await here.as('owner').put(`/groups/${here.group.path}`, { name: 'x' })).status, 404);
  const within = await here.as('guest').get(`/projects/${encodeURIComponent(here.project.full_path)}`);
  assert.equal(within.headers.get('location'), `${here.url}/api/v4/projects/${here.project.id}`);

  const inside = await addGroup(here, 'inside', here.group.id);
  assert.match((await move(inside.id)).body.message, /cannot move into itself/);
  assert.deepEqual((await move(parent.id)).body, {
    message: 'Transfer failed: Group is already associated to the parent group.',
  });
  assert.equal((await move()).body.full_path, here.group.path);
  assert.equal((await reader.client.get(`/projects/${here.project.id}`)).body.permissions.group_access, null);
  assert.equal(
    (await here.as('guest').get(`/groups/${here.group.path}`)).status,
    200,
    'what stands at a path wins over where it once led',
  );
});

test('a transferred group keeps the labels and milestones of the group that it leaves', async () => {
  const here = await world();
  const owner = here.as('owner');
  const below = await addGroup(here, `leaving-${here.group.id}`, here.group.id);
  const { id } = (await owner.post('/projects', { name: 'pears', namespace_id: below.id })).body;
  const label = async (place: string, name: string) =>
    (await owner.post(`${place}/labels`, { name, color: '#aabbcc', description: 'Old' })).body.id;
  const [old, own] = [`/groups/${here.group.id}`, `/groups/${below.id}`];
  const shared = await label(own, 'shared');
  const gone = [await label(old, 'copied'), await label(old, 'shared')];
  const milestone_id = (await owner.post(`${old}/milestones`, { title: 'Ripe', due_date: '2031-05-01' })).body.id;
  const [issue, outside] = await Promise.all(
    [id, here.project.id].map(
      async (project_id) =>
        (await owner.post(`/projects/${project_id}/issues`, { title: 'Pick', labels: 'copied,shared', milestone_id }))
          .body,
    ),
  );
  assert.equal((await owner.post(`${own}/epics`, { title: 'Harvest', labels: 'copied,shared' })).status, 201);
  const outsideBefore = (await owner.get(`/projects/${here.project.id}/issues/${outside.iid}`)).body;

  assert.equal((await owner.post(`${own}/transfer`)).status, 201);
  const { labels, milestone, updated_at } = (await owner.get(`/projects/${id}/issues/${issue.iid}`)).body;
  assert.deepEqual([labels, updated_at], [['copied', 'shared'], issue.updated_at]);
  assert.deepEqual(
    [milestone.title, milestone.due_date, milestone.group_id, milestone.id === milestone_id],
    ['Ripe', '2031-05-01', below.id, false],
  );
  const now = (await owner.get(`${own}/labels`)).body as { id: number; name: string; description: string }[];
  assert.deepEqual(
    now.map(({ name, description }) => [name, description]),
    [
      ['copied', 'Old'],
      ['shared', 'Old'],
    ],
  );
  assert.deepEqual([gone.includes(now[0]!.id), now[1]!.id], [false, shared], 'one is a copy, the other its own');
  assert.equal(
    (await owner.get(`/projects/${id}/issues`, { labels: 'copied,shared', milestone: 'Ripe' })).body.length,
    1,
  );
  const [epic] = (await owner.get(`${own}/epics`, { labels: 'copied,shared' })).body;
  assert.deepEqual(epic.labels, ['copied', 'shared']);
  assert.deepEqual(
    (await owner.get(`/projects/${here.project.id}/issues/${outside.iid}`)).body,
    outsideBefore,
    'others stay',
  );
});

test('a group with inherited owners keeps an owner after a transfer', async () => {
  const here = await world({});
  const below = await addGroup(here, `below-${here.group.id}`, here.group.id);
  assert.equal((await here.as('owner').post(`/groups/${below.id}/transfer`)).body.parent_id, null);
  const members = (await here.as('owner').get(`/groups/${below.id}/members`)).body;
  assert.deepEqual(
    members.map(({ id, access_level }: { id: number; access_level: number }) => [id, access_level]),
    [[here.people.owner.id, 50]],
  );
  assert.equal((await here.as('guest').get(`/groups/${below.id}`)).status, 404);
});

test('a group whose only own owner is blocked gets another one after a transfer', async () => {
  const here = await world({});
  const below = await addGroup(here, `below-${here.group.id}`, here.group.id);
  const { id } = await here.person();
  assert.equal(
    (await here.as('owner').post(`/groups/${below.id}/members`, { user_id: id, access_level: 50 })).status,
    201,
  );
  assert.equal((await here.as('admin').post(`/users/${id}/block`)).status, 201);
  assert.equal((await here.as('owner').post(`/groups/${below.id}/transfer`)).body.parent_id, null);
  const { status, body } = await here.as('owner').get(`/groups/${below.id}/members/${here.people.owner.id}`);
  assert.deepEqual([status, body.access_level], [200, 50]);
});

test('an administrator transfers a project to a group', async () => {
  const here = await world({});
  const there = await addGroup(here, `there-${here.group.id}`);
  assert.equal((await here.as('owner').post(`/groups/${there.id}/projects/${here.project.id}`)).status, 403);
  const moved = await here.as('admin').post(`/groups/${there.id}/projects/${here.project.id}`);
  assert.deepEqual([moved.status, moved.body.id], [201, there.id]);
  const again = await here.as('admin').post(`/groups/${there.id}/projects/${here.project.id}`);
  const reason = 'Failed to transfer project {:new_namespace=>["Project is already in this namespace."]}';
  assert.deepEqual([again.status, again.body], [400, { message: reason }]);
  const unknown = await here.as('admin').post(`/groups/${there.id}/projects/99999999`);
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Project Not Found' }]);
  assert.deepEqual(idsOf((await here.as('owner').get(`/groups/${there.id}/projects`)).body), [here.project.id]);
});

test('a group that is restored while it is being deleted stays, with everything in it', async () => {
  const here = await world({});
  const below = await addGroup(here, 'below', here.group.id);
  const inside = (await here.as('owner').post('/projects', { name: 'inside', namespace_id: below.id })).body;
  assert.equal((await here.as('owner').delete(`/groups/${below.id}`)).status, 202);
  const removing = await here.db.transaction().execute(async (tx) => {
    await lockTree(tx, below.id);
    await tx.updateTable('namespaces').set({ marked_for_deletion_at: null }).where('id', '=', below.id).execute();
    const job = performJob(here.services, removeGroup, { group_id: below.id });
    // Until it waits for the tree, which restoring has locked.
    await untilLockWaits(here.db);
    return { job };
  });
  await removing.job;
  assert.equal((await here.as('owner').get(`/groups/${below.id}`)).status, 200);
  assert.equal((await here.as('owner').get(`/projects/${inside.id}`)).status, 200);
});
