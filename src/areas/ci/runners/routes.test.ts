import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { personWith } from '../../../../test/support/member_roles.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { removeUser } from '../../people/users/index.ts';
import { removeProject } from '../../spaces/projects/index.ts';

type Persona = Parameters<World['as']>[0];

const made = (
  { as }: Pick<World, 'as'>,
  by: Persona,
  values: Record<string, unknown>,
): Promise<{ id: number; token: string }> => sent(as(by).post('/user/runners', values));

const ids = (list: { id: number }[]) => list.map(({ id }) => id).toSorted((a, b) => a - b);

/** A world with a runner of each type. */
async function withRunners(options?: Parameters<typeof world>[0]) {
  const here = await world(options);
  const { group, project } = here;
  const ofProject = await made(here, 'maintainer', { runner_type: 'project_type', project_id: project.id });
  const ofGroup = await made(here, 'owner', { runner_type: 'group_type', group_id: group.id, tag_list: 'a,b' });
  const ofInstance = await made(here, 'admin', { runner_type: 'instance_type', description: 'Shared' });
  return { ...here, ofProject, ofGroup, ofInstance };
}

test('administrators, Owners and Maintainers make runners of what is theirs', async () => {
  const { as, project, group, ofProject } = await withRunners();
  assert.match(ofProject.token, /^glrt-[\w-]{32}$/);
  const shown = await sent(as('maintainer').get(`/runners/${ofProject.id}`));
  assert.deepEqual(
    [shown.runner_type, shown.description, shown.status, shown.online, shown.paused, shown.active, shown.is_shared],
    ['project_type', '', 'never_contacted', null, false, true, false],
  );
  assert.deepEqual(
    [shown.created_by.username, shown.projects[0].id, shown.groups, shown.tag_list, shown.job_execution_status],
    [(await sent(as('maintainer').get('/user'))).username, project.id, [], [], 'idle'],
  );
  assert.ok(!('token' in shown));

  const refusal = async (by: Persona, values: Record<string, unknown>) => {
    const { status, body } = await as(by).post('/user/runners', values);
    return [status, body.message];
  };
  const [ofP, ofG] = [
    { runner_type: 'project_type', project_id: project.id },
    { runner_type: 'group_type', group_id: group.id },
  ];
  assert.deepEqual(await refusal('owner', {}), [400, 'runner_type is missing']);
  assert.deepEqual(await refusal('owner', { runner_type: 'group_type' }), [400, 'group_id is missing']);
  assert.deepEqual(await refusal('owner', { runner_type: 'project_type' }), [400, 'project_id is missing']);
  assert.deepEqual(await refusal('owner', { runner_type: 'instance_type' }), [403, '403 Forbidden']);
  assert.deepEqual(await refusal('developer', ofP), [403, '403 Forbidden']);
  assert.deepEqual(await refusal('maintainer', ofG), [403, '403 Forbidden']);
  assert.deepEqual(await refusal('outsider', ofP), [404, '404 Project Not Found']);
  assert.deepEqual(await refusal('maintainer', { ...ofP, run_untagged: false }), [
    400,
    { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
  ]);
  await sent(as('owner').post(`/projects/${project.id}/archive`));
  assert.deepEqual(await refusal('maintainer', ofP), [403, '403 Forbidden - The project is archived.']);
});

test('lists have own runners, all of them, and those that may take jobs of a project or group', async () => {
  const here = await withRunners({});
  const { as, project, group, ofProject, ofGroup, ofInstance, db } = here;
  const list = async (by: Persona, path: string) => ids(await sent(as(by).get(path)));
  const [p, g, i] = [ofProject.id, ofGroup.id, ofInstance.id];
  assert.deepEqual(await list('owner', '/runners'), [p, g]);
  assert.deepEqual(await list('maintainer', '/runners'), [p]);
  assert.deepEqual(await list('developer', '/runners'), []);
  assert.deepEqual(await list('admin', '/runners/all'), [p, g, i]);
  assert.equal((await as('owner').get('/runners/all')).status, 403);
  const [ofP, ofG] = [`/projects/${project.id}/runners`, `/groups/${group.id}/runners`];
  assert.deepEqual(await list('maintainer', ofP), [p, g, i]);
  assert.deepEqual(await list('owner', ofG), [g, i]);
  assert.equal((await as('developer').get(ofP)).status, 403);
  assert.equal((await as('maintainer').get(ofG)).status, 403);

  await sent(as('owner').put(`/runners/${p}`, { paused: true }));
  await sql`update runners set contacted_at = now() - interval '3 hours' where id = ${g}`.execute(db);
  await sql`insert into runner_managers (runner_id, system_id, version, contacted_at) values (${g}, 's', '17.1.0', now())`.execute(
    db,
  );
  assert.deepEqual(await list('maintainer', `${ofP}?type=instance_type`), [i]);
  assert.deepEqual(await list('maintainer', `${ofP}?paused=true`), [p]);
  assert.deepEqual(await list('maintainer', `${ofP}?status=offline`), [g]);
  assert.deepEqual(await list('maintainer', `${ofP}?status=never_contacted`), [p, i]);
  assert.deepEqual(await list('maintainer', `${ofP}?tag_list=b,a`), [g]);
  assert.deepEqual(await list('maintainer', `${ofP}?tag_list=b,c`), []);
  assert.deepEqual(await list('maintainer', `${ofP}?version_prefix=17.1`), [g]);
  assert.deepEqual(await list('maintainer', `${ofP}?version_prefix=17_1`), []);
  assert.equal((await as('maintainer').get(`${ofP}?status=x`)).body.message, 'status does not have a valid value');

  await sent(as('owner').put(`/projects/${project.id}`, { group_runners_enabled: false }));
  await sent(as('owner').put(`/groups/${group.id}`, { shared_runners_setting: 'disabled_and_overridable' }));
  assert.deepEqual(await list('maintainer', ofP), [p]);
  assert.equal((await sent(as('owner').get(`/projects/${project.id}`))).shared_runners_enabled, false);
  await sent(as('owner').put(`/projects/${project.id}`, { shared_runners_enabled: true }));
  assert.deepEqual(await list('maintainer', ofP), [p, i]);
  await sent(as('owner').put(`/groups/${group.id}`, { shared_runners_setting: 'disabled_and_unoverridable' }));
  assert.deepEqual(await list('maintainer', ofP), [p]);
  assert.deepEqual(await list('owner', ofG), [g]);
  const { status, body } = await as('owner').put(`/projects/${project.id}`, { shared_runners_enabled: true });
  assert.deepEqual(
    [status, body.message],
    [400, { shared_runners_enabled: ['cannot be enabled because parent group does not allow it'] }],
  );
});

test('read_runners: holders list and read the runners of a project and a group, and change none', async () => {
  const here = await withRunners();
  const { project, group, ofProject, ofGroup, ofInstance } = here;
  const { client: inProject } = await personWith(here, `/projects/${project.id}`, ['read_runners']);
  const { client: inGroup } = await personWith(here, `/groups/${group.id}`, ['read_runners']);
  const { client: other } = await personWith(here, `/groups/${group.id}`, ['read_dependency']);
  const readable = async (client: typeof other, path: string) => (await client.get(path)).status;
  for (const path of [
    `/projects/${project.id}/runners`,
    `/runners/${ofProject.id}`,
    `/runners/${ofProject.id}/managers`,
  ])
    assert.deepEqual(
      [await readable(inProject, path), await readable(inGroup, path), await readable(other, path)],
      [200, 200, 403],
      path,
    );
  for (const path of [`/groups/${group.id}/runners`, `/runners/${ofGroup.id}`, `/runners/${ofGroup.id}/jobs`])
    assert.deepEqual(
      [await readable(inProject, path), await readable(inGroup, path), await readable(other, path)],
      [403, 200, 403],
      path,
    );
  assert.equal((await inGroup.put(`/runners/${ofGroup.id}`, { paused: true })).status, 403);
  assert.equal((await inProject.delete(`/runners/${ofProject.id}`)).status, 403);
  assert.equal((await inProject.delete(`/projects/${project.id}/runners/${ofProject.id}`)).status, 403);
  assert.equal((await inProject.post(`/projects/${project.id}/runners/reset_registration_token`)).status, 403);
  assert.equal(await readable(inGroup, `/runners/${ofInstance.id}/managers`), 403);
});

test('runners are shown to those whose they are, and those of the instance to everybody without their machines and jobs', async () => {
  const { as, ofProject, ofGroup, ofInstance } = await withRunners();
  const statuses = async (by: Persona) => [
    (await as(by).get(`/runners/${ofProject.id}`)).status,
    (await as(by).get(`/runners/${ofGroup.id}`)).status,
    (await as(by).get(`/runners/${ofInstance.id}`)).status,
    (await as(by).get(`/runners/${ofInstance.id}/managers`)).status,
    (await as(by).get(`/runners/${ofInstance.id}/jobs`)).status,
  ];
  assert.deepEqual(await statuses('admin'), [200, 200, 200, 200, 200]);
  assert.deepEqual(await statuses('owner'), [200, 200, 200, 403, 403]);
  assert.deepEqual(await statuses('maintainer'), [200, 403, 200, 403, 403]);
  assert.deepEqual(await statuses('developer'), [403, 403, 200, 403, 403]);
  assert.deepEqual(await statuses('anonymous'), [401, 401, 401, 401, 401]);
  const { body } = await as('developer').get(`/runners/${ofProject.id}`);
  assert.equal(body.message, '403 Forbidden - No access granted');
  assert.equal((await as('developer').get('/runners/99999999')).body.message, '404 Runner Not Found');
});

test('a runner is changed, gets another token and is deleted by those who manage all its projects', async () => {
  const here = await withRunners();
  const { as, ofProject, url } = here;
  const path = `/runners/${ofProject.id}`;
  const changed = await sent(
    as('maintainer').put(path, {
      ...{ description: 'Press', active: false, tag_list: ['b', 'a', 'b'], run_untagged: false, locked: true },
      ...{ access_level: 'ref_protected', maximum_timeout: 600, maintenance_note: 'Note' },
    }),
  );
  assert.deepEqual(
    [changed.description, changed.paused, changed.tag_list, changed.run_untagged, changed.locked],
    ['Press', true, ['a', 'b'], false, true],
  );
  assert.deepEqual(
    [changed.access_level, changed.maximum_timeout, changed.maintenance_note],
    ['ref_protected', 600, 'Note'],
  );
  assert.deepEqual((await as('maintainer').put(path, { tag_list: '' })).body.message, {
    tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'],
  });
  assert.equal(
    (await as('maintainer').put(path, {})).body.message,
    'description, active, paused, tag_list, run_untagged, locked, access_level, maximum_timeout, maintenance_note are missing, at least one parameter must be provided',
  );
  const { maximum_timeout } = await sent(as('maintainer').put(path, { maximum_timeout: null }));
  assert.equal(maximum_timeout, null);
  assert.equal((await as('developer').put(path, { paused: true })).status, 403);

  const { token } = await sent(as('maintainer').post(`${path}/reset_authentication_token`));
  const verify = (value: string) =>
    fetch(`${url}/api/v4/runners/verify`, { method: 'POST', headers: { 'runner-token': value } });
  assert.equal((await verify(ofProject.token)).status, 403);
  assert.equal((await verify(token)).status, 200);
  const [manager] = await sent(as('maintainer').get(`${path}/managers`));
  assert.deepEqual([manager.system_id, manager.status, manager.job_execution_status], ['legacy', 'online', 'idle']);
  assert.equal((await as('maintainer').delete(path)).status, 204);
  assert.equal((await as('maintainer').get(path)).status, 404);
});

test('a runner is assigned to further projects, and leaves them except for its own', async () => {
  const here = await withRunners();
  const { as, project, group, ofProject, ofGroup, ofInstance } = here;
  const other = await sent(as('owner').post('/projects', { name: 'Pears', namespace_id: group.id }));
  const [own, theirs] = [`/projects/${project.id}/runners`, `/projects/${other.id}/runners`];
  const refusal = async (path: string, runner_id: number, by: Persona = 'owner') => {
    const { status, body } = await as(by).post(path, { runner_id });
    return [status, body.message];
  };
  assert.deepEqual(await refusal(theirs, ofGroup.id), [403, '403 Forbidden - Runner is a group runner']);
  assert.deepEqual(await refusal(theirs, ofInstance.id), [403, '403 Forbidden - Runner is an instance runner']);
  assert.deepEqual(await refusal(theirs, 99_999_999), [404, '404 Runner Not Found']);
  assert.deepEqual(await refusal(own, ofProject.id), [400, { base: ['Runner has already been taken'] }]);
  const stranger = await here.person();
  const mine = await sent(stranger.client.post('/projects', { name: 'Plums' }));
  const { status, body } = await stranger.client.post(`/projects/${mine.id}/runners`, { runner_id: ofProject.id });
  assert.deepEqual([status, body.message], [403, '403 Forbidden - No access granted']);

  await sent(as('owner').put(`/runners/${ofProject.id}`, { locked: true }));
  assert.deepEqual(await refusal(theirs, ofProject.id), [403, '403 Forbidden - Runner is locked']);
  await sent(as('owner').put(`/runners/${ofProject.id}`, { locked: false }));
  assert.equal(
    (await as('owner').delete(`${own}/${ofProject.id}`)).body.message,
    '403 Forbidden - Only one project associated with the runner. Please remove the runner instead',
  );
  assert.equal((await sent(as('owner').post(theirs, { runner_id: ofProject.id }))).id, ofProject.id);
  assert.equal(
    (await as('owner').delete(`/runners/${ofProject.id}`)).body.message,
    '403 Forbidden - Runner associated with more than one project',
  );
  assert.equal(
    (await as('owner').delete(`${own}/${ofProject.id}`)).body.message,
    '403 Forbidden - You cannot unassign a runner from the owner project. Delete the runner instead',
  );
  assert.equal((await as('owner').delete(`${theirs}/${ofProject.id}`)).status, 204);
  assert.equal((await as('owner').delete(`${theirs}/${ofProject.id}`)).status, 404);

  const last = await sent(as('owner').post('/projects', { name: 'Quinces', namespace_id: group.id }));
  for (const path of [theirs, `/projects/${last.id}/runners`])
    await sent(as('owner').post(path, { runner_id: ofProject.id }));
  await here.db.deleteFrom('projects').where('id', '=', project.id).execute();
  assert.equal(
    (await as('owner').delete(`${theirs}/${ofProject.id}`)).body.message,
    '403 Forbidden - You cannot unassign a runner from the owner project. Delete the runner instead',
  );
  assert.equal((await as('owner').delete(`/projects/${last.id}/runners/${ofProject.id}`)).status, 204);
});

test('registration tokens are replaced by those who see them', async () => {
  const here = await world({});
  const { as, project, group, url } = here;
  const register = async (token: string) =>
    (await fetch(`${url}/api/v4/runners?token=${token}`, { method: 'POST' })).status;
  for (const [place, by, below] of [
    [`/projects/${project.id}`, 'maintainer', 'developer'],
    [`/groups/${group.id}`, 'owner', 'maintainer'],
  ] as const) {
    const { runners_token } = await sent(as(by).get(place));
    const { token, token_expires_at } = await sent(as(by).post(`${place}/runners/reset_registration_token`));
    assert.equal(token_expires_at, null);
    assert.equal((await sent(as(by).get(place))).runners_token, token);
    assert.deepEqual([await register(runners_token), await register(token)], [403, 201]);
    assert.equal((await as(below).post(`${place}/runners/reset_registration_token`)).status, 403);
  }
  const first = await sent(as('admin').post('/runners/reset_registration_token'));
  assert.equal(await register(first.token), 201);
  await sent(as('admin').post('/runners/reset_registration_token'));
  assert.equal(await register(first.token), 403);
  assert.equal((await as('owner').post('/runners/reset_registration_token')).status, 403);
});

test('tokens need the scopes of runners', async () => {
  const here = await withRunners();
  const { as, project, person, ofProject } = here;
  const maintainer = await person();
  await sent(as('owner').post(`/projects/${project.id}/members`, { user_id: maintainer.id, access_level: 40 }));
  const withScope = async (scope: string) => {
    const { token } = await sent(
      as('admin').post(`/users/${maintainer.id}/personal_access_tokens`, { name: scope, scopes: [scope] }),
    );
    return (method: string, path: string, body?: object) =>
      fetch(`${here.url}/api/v4${path}`, {
        method,
        headers: { 'private-token': token, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }).then(({ status }) => status);
  };
  const [create, manage, read] = [
    await withScope('create_runner'),
    await withScope('manage_runner'),
    await withScope('read_api'),
  ];
  const values = { runner_type: 'project_type', project_id: project.id };
  assert.deepEqual(
    [await create('POST', '/user/runners', values), await manage('POST', '/user/runners', values)],
    [201, 403],
  );
  const path = `/runners/${ofProject.id}`;
  assert.deepEqual([await create('GET', path), await manage('GET', path), await read('GET', path)], [403, 200, 200]);
  assert.deepEqual(
    [await manage('PUT', path, { paused: true }), await read('PUT', path, { paused: true })],
    [200, 403],
  );
});

test('the jobs of a runner are those in projects that the caller may read', async () => {
  const here = await built();
  const { as, at, project, db } = here;
  const { id } = await made(here, 'maintainer', { runner_type: 'project_type', project_id: project.id });
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  await sql`update commit_statuses set runner_id = ${id}, status = 'running' where project_id = ${project.id} and name = 'build'`.execute(
    db,
  );
  await sql`update commit_statuses set runner_id = ${id}, status = 'failed' where project_id = ${project.id} and name = 'lint'`.execute(
    db,
  );
  const names = async (query: string) =>
    (await sent(as('maintainer').get(`/runners/${id}/jobs${query}`))).map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(''), ['lint', 'build']);
  assert.deepEqual(await names('?sort=asc&order_by=id'), ['build', 'lint']);
  assert.deepEqual(await names('?status=running'), ['build']);
  assert.deepEqual(await names('?system_id=other'), []);
  assert.equal((await sent(as('maintainer').get(`/runners/${id}`))).job_execution_status, 'active');
  assert.equal((await as('developer').get(`/runners/${id}/jobs`)).status, 403);
});

test('the runners of a deleted user stay with the ghost user', async () => {
  const here = await world();
  const { as, project, person } = here;
  const leaving = await person();
  await sent(as('owner').post(`/projects/${project.id}/members`, { user_id: leaving.id, access_level: 40 }));
  const { id } = await sent(
    leaving.client.post('/user/runners', { runner_type: 'project_type', project_id: project.id }),
  );
  await as('admin').delete(`/users/${leaving.id}`);
  await performQueued(here.services, [removeUser]);
  assert.equal((await sent(as('owner').get(`/runners/${id}`))).created_by.username, 'ghost');
});

test('the runners of a group are those of its projects wherever it moves', async () => {
  const here = await withRunners();
  const { as, project, group, ofGroup } = here;
  const above = await sent(as('owner').post('/groups', { name: 'Above', path: `above-${group.id}` }));
  const ofAbove = await made(here, 'owner', { runner_type: 'group_type', group_id: above.id });
  await sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: above.id }));
  const list = ids(await sent(as('maintainer').get(`/projects/${project.id}/runners?type=group_type`)));
  assert.deepEqual(list, [ofGroup.id, ofAbove.id]);
});

test('a runner of projects goes with the last of them', async () => {
  const here = await withRunners();
  const { as, project, group, ofProject } = here;
  const other = await sent(as('owner').post('/projects', { name: 'Pears', namespace_id: group.id }));
  await sent(as('owner').post(`/projects/${other.id}/runners`, { runner_id: ofProject.id }));
  const remove = async (project_id: number) => {
    await sent(as('owner').delete(`/projects/${project_id}`));
    await performJob(here.services, removeProject, { project_id });
  };
  await remove(project.id);
  assert.equal((await as('owner').get(`/runners/${ofProject.id}`)).status, 200);
  await remove(other.id);
  assert.equal((await as('owner').get(`/runners/${ofProject.id}`)).status, 404);
});
