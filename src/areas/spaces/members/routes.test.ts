import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { addRole } from '../../../../test/support/member_roles.ts';
import { world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { removeExpiredMembers } from './removal_actions.ts';

const idsIn = (answer: { body: { id: number }[] }) => answer.body.map(({ id }) => id);

for (const kind of ['group', 'project'] as const) {
  test(`a member of a ${kind} is added, shown, updated and deleted`, async () => {
    const { as, person, people, ...places } = await world({});
    const url = `/${kind}s/${places[kind].id}/members`;
    const newcomer = await person();
    assert.equal((await newcomer.client.get(`/${kind}s/${places[kind].id}`)).status, 404);

    const added = await as('owner').post(url, { user_id: newcomer.id, access_level: 20, expires_at: daysFromNow(5) });
    assert.equal(added.status, 201);
    const { created_at, created_by, ...rest } = added.body;
    assert.deepEqual(rest, {
      id: newcomer.id,
      username: newcomer.username,
      name: newcomer.username.replaceAll('-', ' '),
      state: 'active',
      locked: false,
      public_email: rest.public_email,
      avatar_url: null,
      web_url: `http://coppice.test/${newcomer.username}`,
      expires_at: daysFromNow(5),
      access_level: 20,
      membership_state: 'active',
    });
    assert.equal(created_by.id, people.owner.id);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT/);
    assert.equal((await newcomer.client.get(`/${kind}s/${places[kind].id}`)).status, 200);

    const changed = await as('owner').put(`${url}/${newcomer.id}`, { access_level: 30 });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body, { ...added.body, access_level: 30 });
    assert.equal(
      (await as('owner').put(`${url}/${newcomer.id}`, { access_level: 30, expires_at: '' })).body.expires_at,
      null,
    );
    assert.deepEqual((await as('guest').get(`${url}/${newcomer.id}`)).body, { ...changed.body, expires_at: null });

    assert.equal((await as('owner').delete(`${url}/${newcomer.id}`)).status, 204);
    const gone = await as('guest').get(`${url}/${newcomer.id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }]);
    assert.equal((await as('owner').delete(`${url}/${newcomer.id}`)).status, 404);
    assert.equal((await as('owner').put(`${url}/${newcomer.id}`, { access_level: 30 })).status, 404);
    assert.equal((await newcomer.client.get(`/${kind}s/${places[kind].id}`)).status, 404);
  });

  test(`invalid members of a ${kind} are refused, and no member is added`, async () => {
    const { as, person, ...places } = await world({});
    const url = `/${kind}s/${places[kind].id}/members`;
    const newcomer = await person();
    const before = idsIn(await as('owner').get(url));
    const user_id = newcomer.id;
    const refusals: [object, number, object | string][] = [
      [{ user_id: 99_999_999, access_level: 20 }, 404, '404 User Not Found'],
      [{ username: 'nobody-at-all', access_level: 20 }, 404, '404 User Not Found'],
      [{ user_id, access_level: 25 }, 400, 'access_level does not have a valid value'],
      [{ user_id, access_level: 60 }, 400, 'access_level does not have a valid value'],
      [{ user_id, access_level: 0 }, 400, 'access_level does not have a valid value'],
      [{ user_id }, 400, 'access_level is missing'],
      [{ access_level: 20 }, 400, 'user_id, username are missing, at least one parameter must be provided'],
      [{ user_id, username: newcomer.username, access_level: 20 }, 400, 'user_id, username are mutually exclusive'],
      [{ user_id: 'x', access_level: 20 }, 400, 'user_id is invalid'],
      [
        { user_id, access_level: 20, expires_at: daysFromNow(-1) },
        400,
        { expires_at: ['cannot be a date in the past'] },
      ],
      [{ user_id, access_level: 20, expires_at: daysFromNow(0) }, 400, { expires_at: ['must be after today'] }],
      [{ user_id, access_level: 20, expires_at: 'soon' }, 400, 'expires_at is invalid'],
    ];
    for (const [body, status, message] of refusals) {
      const refused = await as('owner').post(url, { ...body });
      assert.deepEqual([refused.status, refused.body.message], [status, message], JSON.stringify(body));
    }
    for (const [persona, status] of [
      ['anonymous', 401],
      ['outsider', 404],
      ['guest', 403],
      ['developer', 403],
    ] as const)
      assert.equal((await as(persona).post(url, { user_id, access_level: 10 })).status, status, persona);
    assert.equal((await as('outsider').get(url)).status, 404);
    assert.equal((await as('anonymous').get(url)).status, 401);
    assert.deepEqual(idsIn(await as('owner').get(url)), before);
  });
}

test('adding an existing member is a conflict, regardless of the case of the username', async () => {
  const { as, group, people } = await world({});
  const url = `/groups/${group.id}/members`;
  for (const body of [{ user_id: people.guest.id }, { username: people.guest.username.toUpperCase() }]) {
    const again = await as('owner').post(url, { ...body, access_level: 30 });
    assert.deepEqual([again.status, again.body], [409, { message: 'Member already exists' }]);
  }
  assert.equal((await as('guest').get(`${url}/${people.guest.id}`)).body.access_level, 10);
});

test('several users are added at once; failures are reported by username, and the others are added', async () => {
  const { as, group, project, people, person } = await world({});
  const [a, b, c] = [await person(), await person(), await person()];
  const url = `/projects/${project.id}/members`;
  const both = await as('maintainer').post(url, { user_id: `${a.id},${b.id}`, access_level: 20 });
  assert.deepEqual([both.status, both.body], [201, { status: 'success' }]);

  const names = [c.username, people.developer.username, 'no-such-person', a.username].join(', ');
  const some = await as('maintainer').post(url, { username: names, access_level: 20, expires_at: daysFromNow(3) });
  assert.equal(some.status, 201);
  assert.deepEqual(some.body, {
    status: 'error',
    message: {
      [people.developer.username]:
        `Access level should be greater than or equal to Developer inherited membership from group ${group.path}`,
      'no-such-person': '404 User Not Found',
    },
  });
  assert.deepEqual(idsIn(await as('guest').get(url)), [a.id, b.id, c.id]);
  assert.equal((await as('guest').get(`${url}/${a.id}`)).body.expires_at, daysFromNow(3));

  const many = Array.from({ length: 101 }, (_, index) => index + 1).join(',');
  const tooMany = await as('maintainer').post(url, { user_id: many, access_level: 10 });
  assert.deepEqual(tooMany.body, { status: 'error', message: 'Too many users specified (limit is 100)' });
  assert.equal((await as('guest').get(url)).body.length, 3);
});

test('a group keeps an owner: the last one can neither leave nor step down in any way', async () => {
  const { as, group, people, person } = await world({});
  const url = `/groups/${group.id}/members`;
  const self = `${url}/${people.owner.id}`;
  const reason = 'A group must keep an owner who is a person, is not blocked, and whose membership does not end';
  assert.deepEqual((await as('owner').delete(self)).body, { message: `403 Forbidden - ${reason}` });
  assert.equal((await as('owner').put(self, { access_level: 40 })).status, 403);
  assert.equal((await as('admin').delete(self)).status, 403);

  const second = await person();
  assert.equal((await as('owner').post(url, { user_id: second.id, access_level: 50 })).status, 201);
  const stepDown = await as('owner').post(url, { user_id: `${second.id},${people.owner.id}`, access_level: 30 });
  assert.deepEqual(stepDown.body, {
    status: 'error',
    message: { [people.owner.username]: reason, [second.username]: reason },
  });
  assert.equal((await as('guest').get(self)).body.access_level, 50);
  assert.equal((await as('owner').delete(self)).status, 204);
  assert.equal((await second.client.delete(`${url}/${second.id}`)).status, 403);
});

test('bots, blocked users and owners whose membership ends do not keep a group, and its last owner gets no end', async () => {
  const { as, group, people, person } = await world({});
  const [url, expires_at] = [`/groups/${group.id}/members`, daysFromNow(5)];
  const self = `${url}/${people.owner.id}`;
  const account = (await as('admin').post('/service_accounts')).body;
  const [ending, blocked] = [await person(), await person()];
  for (const owner of [{ user_id: account.id }, { user_id: ending.id, expires_at }, { user_id: blocked.id }])
    assert.equal((await as('owner').post(url, { ...owner, access_level: 50 })).status, 201);
  const token = { name: 'bot', scopes: ['api'], access_level: 50, expires_at };
  const bot = (await as('owner').post(`/groups/${group.id}/access_tokens`, token)).body;
  assert.equal((await as('admin').post(`/users/${blocked.id}/block`)).status, 201);

  const before = (await as('guest').get(self)).body;
  for (const refused of [
    await as('owner').put(self, { access_level: 50, expires_at }),
    await as('owner').put(self, { access_level: 40 }),
    await as('owner').delete(self),
    await as('admin').delete(self),
  ])
    assert.deepEqual([refused.status, refused.body.message.slice(0, 34)], [403, '403 Forbidden - A group must keep ']);
  const several = { user_id: `${people.owner.id},${people.guest.id}`, access_level: 50, expires_at };
  assert.deepEqual(Object.keys((await as('owner').post(url, several)).body.message), [people.owner.username]);
  assert.equal((await as('admin').delete(`/users/${people.owner.id}`)).status, 409);
  assert.deepEqual((await as('guest').get(self)).body, before);

  // Those who do not count can go, and one who stays relieves the last owner.
  assert.equal((await as('owner').delete(`${url}/${account.id}`)).status, 204);
  assert.equal((await as('owner').delete(`${url}/${bot.user_id}`)).status, 204);
  assert.equal((await as('owner').put(`${url}/${ending.id}`, { access_level: 50, expires_at: '' })).status, 200);
  assert.equal((await as('owner').put(self, { access_level: 50, expires_at })).status, 200);
  assert.equal((await as('owner').delete(self)).status, 204);
});

test('inherited owners are enough for a subgroup, so its direct owner may leave', async () => {
  const { as, group, people, person } = await world({});
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const url = `/groups/${sub.id}/members`;
  const other = await person();
  assert.equal((await as('owner').post(url, { user_id: other.id, access_level: 50 })).status, 201);
  assert.equal((await other.client.put(`${url}/${other.id}`, { access_level: 30 })).status, 200);
  assert.equal((await other.client.delete(`${url}/${other.id}`)).status, 204);
  assert.deepEqual(idsIn(await as('owner').get(url)), []);
  assert.equal((await as('owner').get(`${url}/all/${people.owner.id}`)).body.access_level, 50);
});

test('project members cannot grant or remove a level above their own', async () => {
  const { as, project, person } = await world({});
  const url = `/projects/${project.id}/members`;
  const [a, b] = [await person(), await person()];
  assert.equal((await as('maintainer').post(url, { user_id: a.id, access_level: 50 })).status, 403);
  assert.equal((await as('owner').post(url, { user_id: a.id, access_level: 50 })).status, 201);
  assert.equal((await as('maintainer').put(`${url}/${a.id}`, { access_level: 40 })).status, 403);
  assert.equal((await as('maintainer').delete(`${url}/${a.id}`)).status, 403);
  assert.equal((await as('maintainer').post(url, { user_id: b.id, access_level: 40 })).status, 201);
  assert.equal((await as('maintainer').put(`${url}/${b.id}`, { access_level: 50 })).status, 403);
  assert.equal((await b.client.delete(`${url}/${a.id}`)).status, 403);
  const several = await as('maintainer').post(url, { user_id: [a.id, b.id], access_level: 20 });
  assert.deepEqual(several.body, { status: 'error', message: { [a.username]: 'not authorized to update member' } });
  const levels = (await as('guest').get(url)).body.map((member: { access_level: number }) => member.access_level);
  assert.deepEqual(levels, [50, 20]);
});

test('a membership below the inherited level is refused, and a higher one applies', async () => {
  const { as, group, project, people } = await world({});
  const url = `/projects/${project.id}/members`;
  const refused = await as('owner').post(url, { user_id: people.developer.id, access_level: 20 });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body, {
    message: {
      access_level: [`should be greater than or equal to Developer inherited membership from group ${group.path}`],
    },
  });
  assert.equal((await as('owner').post(url, { user_id: people.developer.id, access_level: 30 })).status, 201);
  assert.equal((await as('owner').put(`${url}/${people.developer.id}`, { access_level: 40 })).status, 200);
  assert.equal((await as('owner').put(`${url}/${people.developer.id}`, { access_level: 20 })).status, 400);
  assert.equal((await as('guest').get(`${url}/all/${people.developer.id}`)).body.access_level, 40);
  assert.equal((await as('guest').get(`/groups/${group.id}/members/${people.developer.id}`)).body.access_level, 30);
});

test('every effective member is listed once, with the highest level', async () => {
  const { as, group, project, people, person } = await world({});
  const url = `/projects/${project.id}/members`;
  const direct = await person();
  await as('owner').post(url, { user_id: direct.id, access_level: 20, expires_at: daysFromNow(2) });
  await as('owner').post(url, { user_id: people.guest.id, access_level: 30 });
  assert.deepEqual(idsIn(await as('guest').get(url)), [people.guest.id, direct.id]);

  const all = (await as('guest').get(`${url}/all`)).body.map(
    ({ id, access_level, expires_at }: Record<string, unknown>) => [id, access_level, expires_at],
  );
  assert.deepEqual(all, [
    [people.guest.id, 30, null],
    [people.planner.id, 15, null],
    [people.reporter.id, 20, null],
    [people.developer.id, 30, null],
    [people.maintainer.id, 40, null],
    [people.owner.id, 50, null],
    [direct.id, 20, daysFromNow(2)],
  ]);
  const inherited = await as('guest').get(`${url}/all/${people.planner.id}`);
  const original = await as('guest').get(`/groups/${group.id}/members/${people.planner.id}`);
  assert.deepEqual(inherited.body, original.body);
  assert.equal((await as('guest').get(`${url}/${people.planner.id}`)).status, 404);
  assert.equal((await as('guest').get(`${url}/all/${people.outsider.id}`)).status, 404);
});

test('members are searched, filtered, skipped and paged', async () => {
  const { as, group, people, db } = await world({});
  const url = `/groups/${group.id}/members`;
  await db
    .updateTable('users')
    .set({ name: 'Zoë Müller', public_email: 'zoe@example.org' })
    .where('id', '=', people.reporter.id)
    .execute();
  const ids = async (parameters: object, path = url) => idsIn(await as('guest').get(path, { ...parameters }));
  assert.deepEqual(await ids({ query: 'müll' }), [people.reporter.id]);
  assert.deepEqual(await ids({ query: 'zoe@example.org' }), [people.reporter.id]);
  assert.deepEqual(await ids({ query: 'DEVELOPER' }), [people.developer.id]);
  assert.deepEqual(await ids({ query: '%' }), []);
  assert.deepEqual(await ids({ user_ids: [people.owner.id, people.guest.id, people.outsider.id] }), [
    people.guest.id,
    people.owner.id,
  ]);
  assert.deepEqual(await ids({ user_ids: [people.owner.id, people.guest.id], skip_users: [people.guest.id] }), [
    people.owner.id,
  ]);
  assert.deepEqual(await ids({ query: 'müll', skip_users: [people.guest.id] }, `${url}/all`), [people.reporter.id]);
  const second = await as('guest').get(url, { page: 2, per_page: 4 });
  assert.deepEqual(idsIn(second), [people.maintainer.id, people.owner.id]);
  assert.equal(second.headers.get('x-total'), '6');
});

test('an expired membership is not in force, is not shown, can be renewed, and is deleted by the daily job', async () => {
  const { as, group, project, person, db } = await world({});
  const url = `/groups/${group.id}/members`;
  const [past, again] = [await person(), await person()];
  for (const { id } of [past, again])
    await as('owner').post(url, { user_id: id, access_level: 30, expires_at: daysFromNow(1) });
  // A day passes.
  const ids = [past.id, again.id];
  for (const table of ['members', 'group_authorizations', 'project_authorizations'] as const)
    await db
      .updateTable(table)
      .set({ expires_at: daysFromNow(0) })
      .where('user_id', 'in', ids)
      .execute();

  for (const place of [`/groups/${group.id}`, `/projects/${project.id}`])
    assert.equal((await past.client.get(place)).status, 404, place);
  for (const all of [url, `/projects/${project.id}/members`].flatMap((base) => [base, `${base}/all`])) {
    assert.equal((await as('owner').get(`${all}/${past.id}`)).status, 404, all);
    assert.equal((await as('owner').get(all, { user_ids: [past.id] })).body.length, 0, all);
  }
  assert.equal((await as('owner').put(`${url}/${past.id}`, { access_level: 20 })).status, 404);
  assert.equal((await as('owner').get(url)).body.length, 6);
  assert.deepEqual((await as('admin').get(`/users/${past.id}/memberships`)).body, []);
  assert.deepEqual(idsIn(await as('admin').get('/users', { without_projects: true, username: past.username })), [
    past.id,
  ]);

  const renewed = await as('owner').post(url, { user_id: again.id, access_level: 20 });
  assert.deepEqual([renewed.status, renewed.body.access_level, renewed.body.expires_at], [201, 20, null]);

  assert.equal(await removeExpiredMembers(db), 1);
  assert.equal(await removeExpiredMembers(db), 0);
  const left = await db.selectFrom('members').select('user_id').where('user_id', 'in', ids).execute();
  assert.deepEqual(left, [{ user_id: again.id }]);
  assert.deepEqual(
    await db.selectFrom('project_authorizations').select('access_level').where('user_id', '=', past.id).execute(),
    [],
  );
  assert.equal((await again.client.get(`/projects/${project.id}`)).status, 200);
  assert.equal((await as('developer').get(`/projects/${project.id}`)).status, 200);
});

test('a membership inside that has ended does not protect a member from being removed', async () => {
  const { as, group, project, person, db } = await world({});
  const [helper, member] = [await person(), await person()];
  const member_role_id = await addRole({ as }, ['admin_group_member'], { group_id: group.id });
  const [url, inside] = [`/groups/${group.id}/members`, `/projects/${project.id}/members`];
  await as('owner').post(url, { user_id: helper.id, access_level: 10, member_role_id });
  await as('owner').post(url, { user_id: member.id, access_level: 10 });
  await as('owner').post(inside, { user_id: member.id, access_level: 40, expires_at: daysFromNow(1) });
  assert.equal((await helper.client.delete(`${url}/${member.id}`)).status, 403);
  // A day passes.
  await db
    .updateTable('members')
    .set({ expires_at: daysFromNow(0) })
    .where('user_id', '=', member.id)
    .where('project_id', '=', project.id)
    .execute();
  assert.equal((await helper.client.delete(`${url}/${member.id}`)).status, 204);
});

test('deleting a group member also deletes memberships inside, unless subresources are skipped', async () => {
  const { as, group, project, person } = await world({});
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const places = [`/groups/${group.id}/members`, `/groups/${sub.id}/members`, `/projects/${project.id}/members`];
  const [stays, leaves] = [await person(), await person()];
  for (const { id } of [stays, leaves])
    for (const url of places)
      assert.equal((await as('owner').post(url, { user_id: id, access_level: 20 })).status, 201);

  assert.equal(
    (await as('owner').delete(`/groups/${group.id}/members/${stays.id}?skip_subresources=true`)).status,
    204,
  );
  assert.equal((await leaves.client.delete(`/groups/${group.id}/members/${leaves.id}`)).status, 204);
  const [top, ...inside] = places;
  assert.deepEqual(idsIn(await as('owner').get(top!, { user_ids: [stays.id, leaves.id] })), []);
  for (const url of inside) assert.deepEqual(idsIn(await as('owner').get(url)), [stays.id]);
  assert.equal((await stays.client.get(`/projects/${project.id}`)).status, 200);
  assert.equal((await leaves.client.get(`/projects/${project.id}`)).status, 404);
});

test('members can leave but not delete others, and not if the membership has changed', async () => {
  const { as, group, people } = await world({});
  const url = `/groups/${group.id}/members`;
  assert.equal((await as('developer').delete(`${url}/${people.guest.id}`)).status, 403);
  const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
  assert.equal((await as('developer').delete(`${url}/${people.developer.id}`, {}, early)).status, 412);
  assert.equal((await as('developer').delete(`${url}/${people.developer.id}`)).status, 204);
  assert.equal((await as('developer').get(`/groups/${group.id}`)).status, 404);
  assert.deepEqual(idsIn(await as('owner').get(url)), [
    people.guest.id,
    people.planner.id,
    people.reporter.id,
    people.maintainer.id,
    people.owner.id,
  ]);
});

test('the owner of a namespace is listed as owner of its projects, and stays', async () => {
  const { as, people, person } = await world({});
  const project = (await as('guest').post('/projects', { name: 'mine', path: 'mine' })).body;
  const url = `/projects/${project.id}/members`;
  const friend = await person();
  assert.equal((await as('guest').post(url, { user_id: friend.id, access_level: 40 })).status, 201);
  for (const path of [url, `${url}/all`]) {
    const listed = (await as('guest').get(path)).body.map(({ id, access_level }: Record<string, unknown>) => [
      id,
      access_level,
    ]);
    assert.deepEqual(listed, [
      [people.guest.id, 50],
      [friend.id, 40],
    ]);
    assert.equal((await as('guest').get(`${path}/${people.guest.id}`)).body.created_at, project.created_at);
  }
  const again = await as('guest').post(url, { user_id: people.guest.id, access_level: 50 });
  assert.deepEqual([again.status, again.body], [409, { message: 'Member already exists' }]);
  for (const caller of [as('guest'), as('admin'), friend.client]) {
    assert.equal((await caller.put(`${url}/${people.guest.id}`, { access_level: 10 })).status, 403);
    assert.equal((await caller.delete(`${url}/${people.guest.id}`)).status, 403);
  }
  assert.equal((await as('guest').get(`${url}/${people.guest.id}`)).body.access_level, 50);
});

test('a membership lock applies to projects in the group, not to its subgroups', async () => {
  const { as, group, project, person } = await world({});
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const inner = (await as('owner').post('/projects', { name: 'inner', namespace_id: sub.id })).body;
  const newcomer = { user_id: (await person()).id, access_level: 10 };
  assert.equal((await as('owner').put(`/groups/${group.id}`, { membership_lock: true })).body.membership_lock, true);
  for (const id of [project.id, inner.id]) {
    const refused = await as('owner').post(`/projects/${id}/members`, newcomer);
    assert.deepEqual([refused.status, refused.body], [405, { message: '405 Method Not Allowed' }]);
    assert.deepEqual((await as('owner').get(`/projects/${id}/members`)).body, []);
  }
  assert.equal((await as('owner').post(`/groups/${sub.id}/members`, newcomer)).status, 201);
  await as('owner').put(`/groups/${group.id}`, { membership_lock: false });
  assert.equal((await as('owner').post(`/projects/${project.id}/members`, newcomer)).status, 201);
});

test('minimal access gives access to the group itself and to nothing in it', async () => {
  const { as, group, project, person } = await world({});
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const barely = await person();
  const body = { user_id: barely.id, access_level: 5 };
  assert.equal(
    (await as('owner').post(`/projects/${project.id}/members`, body)).body.message,
    'access_level does not have a valid value',
  );
  assert.deepEqual((await as('owner').post(`/groups/${sub.id}/members`, body)).body, {
    message: { access_level: ['is not included in the list'] },
  });
  assert.equal((await as('owner').post(`/groups/${group.id}/members`, body)).status, 201);
  assert.equal((await barely.client.get(`/groups/${group.id}`)).status, 200);
  assert.equal((await barely.client.get(`/groups/${sub.id}`)).status, 404);
  assert.equal((await barely.client.get(`/projects/${project.id}`)).status, 404);
  assert.equal((await as('owner').post(`/projects/${project.id}/members`, { ...body, access_level: 10 })).status, 201);
});

test('minimal access needs a license, and members with it see nothing without one', async (t) => {
  const here = await world({});
  const { as, group } = here;
  const [barely, other] = [await here.person(), await here.person()];
  const url = `/groups/${group.id}/members`;
  assert.equal((await as('owner').post(url, { user_id: barely.id, access_level: 5 })).status, 201);
  const seen = async () => [
    (await barely.client.get(`/groups/${group.id}`)).status,
    (await barely.client.get(url)).status,
    (await barely.client.get('/groups', { min_access_level: 5 })).body.length,
    (await barely.client.get('/groups')).body.length,
  ];
  assert.deepEqual(await seen(), [200, 200, 1, 1]);
  t.after(() => changePlan(here, 'ultimate'));
  await changePlan(here, 'free');
  assert.deepEqual(await seen(), [404, 404, 0, 0]);
  for (const refused of [
    await as('owner').post(url, { user_id: other.id, access_level: 5 }),
    await as('owner').put(`${url}/${here.people.guest.id}`, { access_level: 5 }),
  ])
    assert.deepEqual(
      [refused.status, refused.body],
      [400, { message: { access_level: ['is not included in the list'] } }],
    );
  await changePlan(here, 'premium');
  assert.deepEqual(await seen(), [200, 200, 1, 1]);
});

test('members of an archived project can be changed', async () => {
  const { as, project, db, person } = await world({});
  await db.updateTable('projects').set({ archived: true }).where('id', '=', project.id).execute();
  const { id } = await person();
  const url = `/projects/${project.id}/members`;
  assert.equal((await as('maintainer').post(url, { user_id: id, access_level: 20 })).status, 201);
  assert.equal((await as('maintainer').delete(`${url}/${id}`)).status, 204);
});

test('members of another project are imported with at most the level of the caller', async () => {
  const { as, project, group, people, person } = await world({});
  const source = (await as('owner').post('/projects', { name: 'source', namespace_id: group.id })).body;
  const [low, high, known] = [await person(), await person(), await person()];
  const from = `/projects/${source.id}/members`;
  await as('owner').post(from, { user_id: low.id, access_level: 20, expires_at: '2999-01-01' });
  await as('owner').post(from, { user_id: high.id, access_level: 50 });
  await as('owner').post(from, { user_id: known.id, access_level: 30 });
  await as('owner').post(`/projects/${project.id}/members`, { user_id: known.id, access_level: 10 });

  const url = `/projects/${project.id}/import_project_members`;
  assert.equal((await as('developer').post(`${url}/${source.id}`)).status, 403);
  assert.deepEqual((await as('maintainer').post(`${url}/99999999`)).body, { message: '404 Project Not Found' });
  const secret = (await as('outsider').post('/projects', { name: 'secret' })).body;
  assert.equal((await as('maintainer').post(`${url}/${secret.id}`)).status, 404);
  assert.equal((await as('owner').get(`/projects/${project.id}/members`)).body.length, 1);

  const imported = await as('maintainer').post(`${url}/${source.id}`);
  assert.deepEqual([imported.status, imported.body], [201, { status: 'success' }]);
  const members = (await as('owner').get(`/projects/${project.id}/members`)).body.map(
    ({ id, access_level, expires_at }: { id: number; access_level: number; expires_at: string | null }) => [
      id,
      access_level,
      expires_at,
    ],
  );
  assert.deepEqual(members, [
    [low.id, 20, '2999-01-01'],
    [high.id, 40, null],
    [known.id, 10, null],
  ]);
  assert.equal((await high.client.get(`/projects/${project.id}`)).body.permissions.project_access.access_level, 40);
  assert.equal((await as('owner').get(`/projects/${project.id}/members/${people.owner.id}`)).status, 404);
});
