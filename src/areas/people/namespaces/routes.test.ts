import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { world } from '../../../../test/support/world.ts';
import { recordGroupSeats } from './index.ts';

const pathsIn = (answer: { body: { full_path: string }[] }) => answer.body.map(({ full_path }) => full_path);

test('users see their own namespace and the groups that they are a member of', async () => {
  const { as, people, group, person } = await world({});
  const sub = (await as('owner').post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body;
  const { username } = people.guest;
  assert.deepEqual(pathsIn(await as('guest').get('/namespaces')), [username, group.path, sub.full_path]);
  const [own, joined] = (await as('guest').get('/namespaces')).body;
  assert.deepEqual(own, {
    id: own.id,
    name: username.replaceAll('-', ' '),
    path: username,
    kind: 'user',
    full_path: username,
    parent_id: null,
    avatar_url: null,
    web_url: `http://coppice.test/${username}`,
    projects_count: 0,
    root_repository_size: 0,
    plan: 'ultimate',
    trial: false,
    trial_ends_on: null,
    end_date: null,
  });
  assert.equal(joined.web_url, `http://coppice.test/groups/${group.path}`);
  assert.equal('members_count_with_descendants' in joined, false);

  const stranger = await person();
  assert.deepEqual(pathsIn(await stranger.client.get('/namespaces')), [stranger.username]);
  assert.equal((await as('anonymous').get('/namespaces')).status, 401);
  const all = pathsIn(await as('admin').get('/namespaces', { search: group.path }));
  assert.deepEqual(all, [group.path]);
});

test('owners also see the numbers of members and projects inside', async () => {
  const { as, people, group, project, person } = await world();
  const helper = await person();
  await as('owner').post(`/projects/${project.id}/members`, { user_id: helper.id, access_level: 10 });
  await as('owner').post(`/projects/${project.id}/members`, { user_id: people.guest.id, access_level: 10 });
  const { members_count_with_descendants, projects_count, billable_members_count } = (
    await as('owner').get(`/namespaces/${group.id}`)
  ).body;
  // Guests take no seat under Ultimate.
  assert.deepEqual([members_count_with_descendants, projects_count, billable_members_count], [7, 1, 5]);
  const sub = (await as('owner').post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body;
  const inner = (await as('owner').get(`/namespaces/${sub.id}`)).body;
  assert.equal(inner.members_count_with_descendants, 0);
  assert.equal('billable_members_count' in inner, false);
  assert.equal('plan' in (await as('guest').get(`/namespaces/${group.id}`)).body, false);
  assert.equal('projects_count' in inner, false);
});

test('the highest number of seats in use is kept, and the sizes of repositories inside are added up', async () => {
  const here = await world();
  const { as, people, group, project } = here;
  const shown = async () => (await as('owner').get(`/namespaces/${group.id}`)).body;
  const seats = async () => {
    const { billable_members_count, seats_in_use, max_seats_used } = await shown();
    return [billable_members_count, seats_in_use, max_seats_used];
  };
  const before = await seats();
  assert.deepEqual(before, [5, 5, 5]);
  await performJob(here.services, recordGroupSeats);
  await as('owner').delete(`/groups/${group.id}/members/${people.developer.id}`);
  assert.deepEqual(await seats(), [4, 4, 5]);
  await performJob(here.services, recordGroupSeats);
  assert.deepEqual(await seats(), [4, 4, 5]);

  const sub = (await as('owner').post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body;
  const inner = await as('owner').post('/projects', {
    name: 'Deep',
    namespace_id: sub.id,
    initialize_with_readme: true,
  });
  const sizeOf = async (id: number) =>
    (await as('owner').get(`/projects/${id}`, { statistics: true })).body.statistics.repository_size;
  const sizes = [await sizeOf(project.id), await sizeOf(inner.body.id)];
  assert.ok(sizes[1] > 0);
  assert.equal((await shown()).root_repository_size, sizes[0] + sizes[1]);
  assert.equal('root_repository_size' in (await as('owner').get(`/namespaces/${sub.id}`)).body, false);
  assert.equal('root_repository_size' in (await as('reporter').get(`/namespaces/${group.id}`)).body, false);
});

test('a list counts members and projects of each namespace, and everybody once', async () => {
  const { as, people, group, project, person } = await world();
  const owner = as('owner');
  const made = async (path: string, parameters: object) => {
    const { status, body } = await owner.post(path, { ...parameters });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const sub = await made('/groups', { name: 'Inner', path: 'inner', parent_id: group.id });
  const innermost = await made('/groups', { name: 'Innermost', path: 'innermost', parent_id: sub.id });
  const apart = await made('/groups', { name: 'Apart', path: `${group.path}-apart` });
  await made('/projects', { name: 'deep', namespace_id: innermost.id });
  const { id } = await made('/projects', { name: 'inside', namespace_id: sub.id });
  await made('/projects', { name: 'personal' });
  const helper = await person();
  await made(`/projects/${id}/members`, { user_id: helper.id, access_level: 10 });
  await made(`/projects/${id}/members`, { user_id: people.guest.id, access_level: 30 });
  await made(`/groups/${innermost.id}/members`, { user_id: helper.id, access_level: 30 });
  await made(`/projects/${project.id}/members`, { user_id: people.guest.id, access_level: 10 });
  await made(`/groups/${apart.id}/members`, { user_id: people.guest.id, access_level: 10 });
  const { body } = await owner.get('/namespaces');
  const counted = body.map((shown: Record<string, unknown>) => [
    shown.full_path,
    shown.members_count_with_descendants,
    shown.billable_members_count,
    shown.projects_count,
  ]);
  assert.deepEqual(counted, [
    [people.owner.username, undefined, undefined, 1],
    [group.path, 7, 7, 3],
    [sub.full_path, 2, undefined, undefined],
    [innermost.full_path, 1, undefined, undefined],
    [apart.path, 2, 2, 0],
  ]);
  for (const shown of body) assert.deepEqual((await owner.get(`/namespaces/${shown.id}`)).body, shown);
});

test('namespaces are searched and filtered', async () => {
  const { as, people, group } = await world();
  const sub = (await as('owner').post('/groups', { name: 'Inner circle', path: 'inner', parent_id: group.id })).body;
  const paths = async (parameters: object, persona: 'owner' | 'guest' = 'owner') =>
    pathsIn(await as(persona).get('/namespaces', { ...parameters }));
  const own = people.owner.username;
  assert.deepEqual(await paths({ search: 'CIRCLE' }), [sub.full_path]);
  assert.deepEqual(await paths({ search: group.path }), [group.path]);
  assert.deepEqual(await paths({ search: group.path, full_path_search: true }), [group.path, sub.full_path]);
  assert.deepEqual(await paths({ search: '_' }), []);
  assert.deepEqual(await paths({ top_level_only: true }), [own, group.path]);
  assert.deepEqual(await paths({ owned_only: true }), [own, group.path, sub.full_path]);
  assert.deepEqual(await paths({ owned_only: true }, 'guest'), [people.guest.username]);
});

test('a namespace is shown by ID or path to its owner and members', async () => {
  const { as, people, group } = await world();
  const sub = (await as('owner').post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body;
  await as('owner').put(`/groups/${group.id}`, { visibility: 'public' });
  const byPath = await as('guest').get(`/namespaces/${encodeURIComponent(sub.full_path.toUpperCase())}`);
  assert.deepEqual([byPath.status, byPath.body.id], [200, sub.id]);
  assert.equal((await as('guest').get(`/namespaces/${people.guest.username}`)).body.kind, 'user');
  for (const id of [group.id, people.guest.username, 99_999_999, '99999999999999999999', 'no-such']) {
    const refused = await as('outsider').get(`/namespaces/${id}`);
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Namespace Not Found' }]);
  }
  assert.equal((await as('admin').get(`/namespaces/${people.guest.username}`)).status, 200);
});

test('a taken path is reported, with a free one as a suggestion', async () => {
  const { as, group, project, people } = await world();
  const exists = async (path: string, parameters = {}) =>
    (await as('outsider').get(`/namespaces/${path}/exists`, parameters)).body;
  assert.deepEqual(await exists(`free-${group.id}`), { exists: false, suggests: [] });
  assert.deepEqual(await exists(people.guest.username.toUpperCase()), {
    exists: true,
    suggests: [`${people.guest.username.toUpperCase()}1`],
  });
  for (const number of [1, 2]) await as('owner').post('/groups', { name: 'more', path: `${group.path}x${number}` });
  await as('owner').post('/groups', { name: 'more', path: `${group.path}x` });
  assert.deepEqual(await exists(`${group.path}x`), { exists: true, suggests: [`${group.path}x3`] });

  // A service account has a username, but no namespace.
  const { username } = (await as('admin').post('/service_accounts')).body;
  assert.deepEqual(await exists(username), { exists: true, suggests: [`${username}1`] });

  assert.equal((await as('outsider').get(`/namespaces/${project.path}/exists`, { parent_id: group.id })).status, 404);
  const inside = await as('guest').get(`/namespaces/${project.path}/exists`, { parent_id: group.id });
  assert.deepEqual(inside.body, { exists: true, suggests: [`${project.path}1`] });
  assert.equal((await as('anonymous').get('/namespaces/x/exists')).status, 401);
});
