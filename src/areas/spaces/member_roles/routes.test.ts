import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addRole } from '../../../../test/support/member_roles.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { permissions } from '../../../access/index.ts';

const none = Object.fromEntries(permissions.map((permission) => [permission, false]));
const namesIn = (answer: { body: { name: string }[] }) => answer.body.map(({ name }) => name);

/** The instance and a group, each with its owner. */
const places = [
  ['the instance', () => '/member_roles', 'admin', () => null],
  ['a group', ({ group }: World) => `/groups/${group.id}/member_roles`, 'owner', ({ group }: World) => group.id],
] as const;

for (const [name, urlOf, owner, groupOf] of places) {
  test(`a role of ${name} is created, listed by name, updated by PATCH and PUT, and deleted`, async () => {
    const here = await world({});
    const url = urlOf(here);
    const roles = here.as(owner);
    const made = await roles.post(url, { name: 'b reader', base_access_level: 10, read_code: true });
    assert.equal(made.status, 201);
    const { id, ...rest } = made.body;
    assert.deepEqual(rest, {
      name: 'b reader',
      description: null,
      group_id: groupOf(here),
      base_access_level: 10,
      ...none,
      read_code: true,
    });
    const all = Object.fromEntries(permissions.map((permission) => [permission, true]));
    const full = await roles.post(url, {
      name: 'a all',
      description: 'Everything',
      base_access_level: '50',
      ...all,
      unheard_of: true,
    });
    assert.deepEqual(full.body, {
      id: full.body.id,
      name: 'a all',
      description: 'Everything',
      group_id: groupOf(here),
      base_access_level: 50,
      ...all,
    });
    const listed = (await roles.get(url)).body.filter((role: { id: number }) => [id, full.body.id].includes(role.id));
    assert.deepEqual(listed, [full.body, made.body]);

    const renamed = await roles.patch(`${url}/${id}`, {
      name: 'c reader',
      description: 'Reads',
      archive_project: true,
    });
    assert.deepEqual(renamed.body, { ...made.body, name: 'c reader', description: 'Reads', archive_project: true });
    const put = await roles.put(`${url}/${id}`, { read_code: false, description: null, base_access_level: 10 });
    assert.deepEqual([put.status, put.body], [200, { ...renamed.body, read_code: false, description: null }]);
    assert.equal((await roles.patch(`${url}/${id}`, {})).body.name, 'c reader');

    assert.equal((await roles.delete(`${url}/${id}`)).status, 204);
    const gone = await roles.delete(`${url}/${id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Member Role Not Found' }]);
    assert.deepEqual((await roles.patch(`${url}/${id}`, { name: 'x' })).body, { message: '404 Member Role Not Found' });
    assert.equal((await roles.delete(`${url}/${full.body.id}`)).status, 204);
  });

  test(`invalid roles of ${name} are refused with the exact texts`, async () => {
    const here = await world({});
    const url = urlOf(here);
    const roles = here.as(owner);
    const known = (
      await roles.post(url, {
        name: `known ${name}`,
        base_access_level: 20,
        admin_vulnerability: true,
        read_vulnerability: true,
      })
    ).body;
    const before = await roles.get(url);
    const valid = { name: 'new', base_access_level: 10, read_code: true };
    const creations: [object, string | undefined, string][] = [
      [{ base_access_level: undefined }, 'error', 'base_access_level is missing'],
      [{ base_access_level: 25 }, 'error', 'base_access_level does not have a valid value'],
      [{ base_access_level: 5 }, 'error', 'base_access_level does not have a valid value'],
      [{ base_access_level: 'high' }, 'error', 'base_access_level is invalid'],
      [{ read_code: 'perhaps' }, 'error', 'read_code is invalid'],
      [{ name: undefined }, 'error', 'name is missing'],
      [{ name: '  ' }, undefined, "Name can't be blank"],
      [{ name: 'x'.repeat(256) }, undefined, 'Name is too long (maximum is 255 characters)'],
      [{ name: known.name }, undefined, 'Name has already been taken'],
      [{ read_code: false }, undefined, 'Cannot create a member role with no enabled permissions'],
      [
        { admin_vulnerability: true },
        undefined,
        'Read vulnerability has to be enabled in order to enable Admin vulnerability',
      ],
      [
        { name: known.name, read_code: false },
        undefined,
        'Name has already been taken, Cannot create a member role with no enabled permissions',
      ],
    ];
    for (const [change, error, message] of creations) {
      const refused = await roles.post(url, { ...valid, ...change });
      const body = error ? { message, error: message } : { message };
      assert.deepEqual([refused.status, refused.body], [400, body], JSON.stringify(change));
    }
    const changes: [object, string][] = [
      [{ name: '' }, "Name can't be blank"],
      [{ base_access_level: 30 }, 'Base access level cannot be changed. Please create a new Member Role instead.'],
      [{ read_vulnerability: false }, 'Read vulnerability has to be enabled in order to enable Admin vulnerability'],
      [
        { read_vulnerability: false, admin_vulnerability: false },
        'Cannot create a member role with no enabled permissions',
      ],
    ];
    for (const [change, message] of changes) {
      const refused = await roles.patch(`${url}/${known.id}`, { ...change });
      assert.deepEqual([refused.status, refused.body], [400, { message }], JSON.stringify(change));
    }
    const odd = await roles.delete(`${url}/abc`);
    assert.deepEqual([odd.status, odd.body.message], [400, 'member_role_id is invalid']);
    assert.deepEqual((await roles.get(url)).body, before.body);
    // The base level has the permission anyway.
    const developer = { name: 'developer', base_access_level: 30, admin_vulnerability: true };
    assert.equal((await roles.post(url, developer)).status, 201);
  });
}

test('a group has at most ten roles, also with concurrent requests, and the instance any number', async () => {
  const { as, group } = await world({});
  const add = (path: string, name: string) => as('admin').post(path, { name, base_access_level: 10, read_code: true });
  const url = `/groups/${group.id}/member_roles`;
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => add(url, `role ${index}`)));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.message]),
    Array(2).fill([
      400,
      'Namespace maximum number of Member Roles are already in use by the group hierarchy. Please delete an existing Member Role.',
    ]),
  );
  const full = await as('owner').get(url);
  assert.deepEqual([full.body.length, full.headers.get('x-per-page'), full.headers.get('x-total')], [10, '20', '10']);
  assert.equal(
    (await as('owner').delete(`${url}/${answers.find(({ status }) => status === 201)!.body.id}`)).status,
    204,
  );
  assert.equal((await add(url, 'another')).status, 201);
  for (let index = 0; index < 21; index++) assert.equal((await add('/member_roles', `many ${index}`)).status, 201);
  const all = await as('admin').get('/member_roles');
  assert.ok(all.body.length >= 21, 'the list is complete, not a page');
  const page = await as('admin').get('/member_roles', { per_page: 2, page: 2 });
  assert.deepEqual(namesIn(page), namesIn(all).slice(2, 4));
  assert.equal(page.headers.get('x-next-page'), '3');
});

test('of two concurrent requests with the same name, one is refused', async () => {
  const { as } = await world({});
  const add = () => as('admin').post('/member_roles', { name: 'at once', base_access_level: 10, read_code: true });
  const statuses = (await Promise.all([add(), add(), add()])).map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [201, 400, 400]);
});

test('roles belong to the top-level group: subgroups list them but cannot create or change any, and other groups can reuse the names', async () => {
  const { as, group, person } = await world({});
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const subOwner = await person();
  await as('owner').post(`/groups/${sub.id}/members`, { user_id: subOwner.id, access_level: 50 });
  const role = { name: 'reader', base_access_level: 10, read_code: true };
  const made = (await as('owner').post(`/groups/${group.id}/member_roles`, role)).body;
  const url = `/groups/${sub.id}/member_roles`;
  assert.deepEqual((await subOwner.client.get(url)).body, [made]);
  const refused = await subOwner.client.post(url, { ...role, name: 'mine' });
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: 'Creation of member role is allowed only for root groups' }],
  );
  assert.equal((await subOwner.client.delete(`${url}/${made.id}`)).status, 404);
  assert.equal((await subOwner.client.patch(`${url}/${made.id}`, { name: 'x' })).status, 404);
  assert.equal((await subOwner.client.get(`/groups/${group.id}/member_roles`)).status, 403);
  assert.equal((await as('admin').delete(`/member_roles/${made.id}`)).status, 404);
  const moved = await as('owner').patch(`/groups/${group.id}/member_roles/${made.id}`, { group_id: sub.id });
  assert.deepEqual(moved.body, { message: "Namespace can't be changed" });

  const other = (await as('outsider').post('/groups', { name: 'other', path: `other-${group.id}` })).body;
  assert.equal((await as('outsider').post(`/groups/${other.id}/member_roles`, role)).status, 201);
  assert.equal((await as('outsider').delete(`/groups/${other.id}/member_roles/${made.id}`)).status, 404);
  assert.deepEqual((await as('owner').get(`/groups/${group.id}/member_roles`)).body, [made]);
});

test('callers who are neither administrators nor owners are refused, and outsiders do not see the group', async () => {
  const { as, group } = await world({});
  const role = { name: 'reader', base_access_level: 10, read_code: true };
  const id = await addRole({ as }, ['read_code']);
  for (const [persona, ofInstance, ofGroup] of [
    ['anonymous', 401, 401],
    ['outsider', 403, 404],
    ['guest', 403, 403],
    ['maintainer', 403, 403],
  ] as const) {
    for (const [url, status] of [
      ['/member_roles', ofInstance],
      [`/groups/${group.id}/member_roles`, ofGroup],
    ] as const) {
      const answers = [
        await as(persona).get(url),
        await as(persona).post(url, role),
        await as(persona).patch(`${url}/${id}`, { name: 'x' }),
        await as(persona).put(`${url}/${id}`, { name: 'x' }),
        await as(persona).delete(`${url}/${id}`),
      ];
      assert.deepEqual(
        answers.map((answer) => answer.status),
        Array(5).fill(status),
        `${persona} ${url}`,
      );
    }
  }
  assert.equal((await as('outsider').get(`/groups/${group.id}/member_roles`)).body.message, '404 Group Not Found');
});

test('an assigned role cannot be deleted, except with its group', async () => {
  const { as, group, person, db } = await world({});
  const role_id = await addRole({ as }, ['read_code'], { group_id: group.id });
  const url = `/groups/${group.id}/member_roles/${role_id}`;
  const [member, past] = [await person(), await person()];
  const members = `/groups/${group.id}/members`;
  const grant = { access_level: 10, member_role_id: role_id };
  assert.equal((await as('owner').post(members, { user_id: member.id, ...grant })).status, 201);
  assert.equal((await as('owner').post(members, { user_id: past.id, ...grant, expires_at: '2999-01-01' })).status, 201);
  const refused = await as('owner').delete(url);
  assert.deepEqual(
    [refused.status, refused.body],
    [
      400,
      {
        message: 'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
      },
    ],
  );
  assert.equal((await as('owner').delete(`${members}/${member.id}`)).status, 204);
  assert.equal((await as('owner').delete(url)).status, 400);
  // A day passes: an expired membership has no role, although its row stays until the night.
  await sql`update members set expires_at = current_date where user_id = ${past.id}`.execute(db);
  assert.equal((await as('owner').delete(url)).status, 204);

  const other = (await as('outsider').post('/groups', { name: 'other', path: `gone-${group.id}` })).body;
  const own = await addRole({ as }, ['read_code'], { group_id: other.id });
  await as('outsider').post(`/groups/${other.id}/members`, {
    user_id: member.id,
    access_level: 10,
    member_role_id: own,
  });
  await as('outsider').post(`/groups/${other.id}/invitations`, {
    email: 'gone@example.org',
    access_level: 10,
    member_role_id: own,
  });
  await sql`delete from namespaces where id = ${other.id}`.execute(db);
  assert.equal(await db.selectFrom('member_roles').select('id').where('id', '=', own).executeTakeFirst(), undefined);
});

test('a role that a pending invitation names cannot be deleted', async () => {
  const { as, group, db } = await world({});
  const invitations = `/groups/${group.id}/invitations`;
  for (const [roles, role_id] of [
    ['/member_roles', await addRole({ as }, ['read_code'])],
    [`/groups/${group.id}/member_roles`, await addRole({ as }, ['read_code'], { group_id: group.id })],
  ] as const) {
    const [email, old] = [`role-${role_id}@example.org`, `old-${role_id}@example.org`];
    const grant = { access_level: 10, member_role_id: role_id };
    assert.equal((await as('owner').post(invitations, { email: [email, old], ...grant })).body.status, 'success');
    // Ninety days pass for one of them.
    await sql`update invitations set created_at = now() - interval '91 days' where invite_email = ${old}`.execute(db);
    const refused = await as('admin').delete(`${roles}/${role_id}`);
    assert.deepEqual(
      [refused.status, refused.body],
      [
        400,
        {
          message:
            'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
        },
      ],
    );
    assert.equal((await as('owner').put(`${invitations}/${email}`, { member_role_id: null })).status, 200);
    assert.equal((await as('admin').delete(`${roles}/${role_id}`)).status, 204);
  }
});

test('a role that is deleted while it is being assigned is not assigned', async () => {
  const { as, group, person, db } = await world({});
  const role_id = await addRole({ as }, ['read_code'], { group_id: group.id });
  const { id: user_id } = await person();
  const members = `/groups/${group.id}/members`;
  let added!: ReturnType<ReturnType<typeof as>['post']>;
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('member_roles').where('id', '=', role_id).execute();
    added = as('owner').post(members, { user_id, access_level: 10, member_role_id: role_id });
    await untilLockWaits(db);
  });
  const { status, body } = await added;
  assert.deepEqual([status, body.message], [400, { member_role: ['not found'] }]);
  assert.equal((await as('owner').get(`${members}/${user_id}`)).status, 404);
});

test('an update of a role applies at once to everyone who has it', async () => {
  const { as, group, project, person } = await world({});
  const role_id = await addRole({ as }, ['remove_project']);
  const member = await person();
  await as('owner').post(`/groups/${group.id}/members`, {
    user_id: member.id,
    access_level: 10,
    member_role_id: role_id,
  });
  const archive = () => member.client.post(`/projects/${project.id}/archive`);
  assert.equal((await archive()).status, 403);
  assert.equal((await as('admin').patch(`/member_roles/${role_id}`, { archive_project: true })).status, 200);
  assert.equal((await archive()).status, 201);
  assert.equal((await as('admin').patch(`/member_roles/${role_id}`, { archive_project: false })).status, 200);
  assert.equal((await archive()).status, 403);
});

test('below Ultimate roles have no effect: every endpoint refuses, and members show none until the plan is back', async () => {
  const { as, group, project, person, db } = await world({});
  const role_id = await addRole({ as }, ['archive_project'], { group_id: group.id });
  const member = await person();
  const members = `/groups/${group.id}/members`;
  await as('owner').post(members, { user_id: member.id, access_level: 10, member_role_id: role_id });
  assert.equal((await member.client.post(`/projects/${project.id}/archive`)).status, 201);
  try {
    await sql`update licenses set plan = 'premium'`.execute(db);
    assert.equal((await member.client.post(`/projects/${project.id}/unarchive`)).status, 403);
    assert.ok(!('member_role' in (await as('owner').get(`${members}/${member.id}`)).body));
    for (const url of ['/member_roles', `/groups/${group.id}/member_roles`]) {
      const answers = [
        await as('admin').get(url),
        await as('admin').post(url, { name: 'x', base_access_level: 10, read_code: true }),
        await as('admin').patch(`${url}/${role_id}`, { name: 'x' }),
        await as('admin').put(`${url}/${role_id}`, { name: 'x' }),
        await as('admin').delete(`${url}/${role_id}`),
      ];
      for (const { status, body } of answers)
        assert.deepEqual([status, body], [403, { message: '403 Forbidden - This needs the Ultimate plan' }]);
    }
    const unheard = await person();
    // Parameters of another plan are ignored, so this is an ordinary guest.
    const added = await as('owner').post(members, { user_id: unheard.id, access_level: 10, member_role_id: role_id });
    assert.equal(added.status, 201);
    assert.equal((await as('owner').put(`${members}/${unheard.id}`, { access_level: 20 })).status, 200);
  } finally {
    await sql`update licenses set plan = 'ultimate'`.execute(db);
  }
  assert.equal((await member.client.post(`/projects/${project.id}/unarchive`)).status, 201);
  const roles = (await as('owner').get(members)).body.map(
    (one: { member_role?: { id: number } }) => one.member_role?.id,
  );
  assert.deepEqual(
    roles.filter((id: number | undefined) => id !== undefined),
    [role_id],
  );
});

test('changing a level below Ultimate removes the role', async () => {
  const { as, group, person, db } = await world({});
  const role_id = await addRole({ as }, ['read_code']);
  const member = await person();
  const url = `/groups/${group.id}/members`;
  await as('owner').post(url, { user_id: member.id, access_level: 10, member_role_id: role_id });
  try {
    await sql`update licenses set plan = 'premium'`.execute(db);
    assert.equal(
      (await as('owner').put(`${url}/${member.id}`, { access_level: 10, expires_at: '2999-01-01' })).status,
      200,
    );
    const kept = db.selectFrom('members').select('member_role_id').where('user_id', '=', member.id);
    assert.equal((await kept.executeTakeFirstOrThrow()).member_role_id, role_id);
    assert.equal((await as('owner').put(`${url}/${member.id}`, { access_level: 20 })).status, 200);
    assert.equal((await kept.executeTakeFirstOrThrow()).member_role_id, null);
  } finally {
    await sql`update licenses set plan = 'ultimate'`.execute(db);
  }
});
