import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addRole, personWith } from '../../../../test/support/member_roles.ts';
import { type World, world } from '../../../../test/support/world.ts';

const roleText = 'cannot be changed since member is associated with a custom role';

for (const kind of ['group', 'project'] as const) {
  test(`a member of a ${kind} gets, changes and loses a custom role, which is shown in all lists`, async () => {
    const { as, person, ...places } = await world();
    const url = `/${kind}s/${places[kind].id}/members`;
    const role_id = await addRole({ as }, ['read_code'], { group_id: places.group.id });
    const other_id = await addRole({ as }, ['read_code'], { base_access_level: 30 });
    const member = await person();
    const added = await as('owner').post(url, { user_id: member.id, access_level: 10, member_role_id: role_id });
    assert.equal(added.status, 201);
    const { id, name, base_access_level, read_code, group_id, archive_project } = added.body.member_role;
    assert.deepEqual(
      [id, base_access_level, read_code, archive_project, group_id],
      [role_id, 10, true, false, places.group.id],
    );
    const shown = [
      (await as('guest').get(`${url}/${member.id}`)).body,
      (await as('guest').get(`${url}/all/${member.id}`)).body,
      (await as('guest').get(url)).body.find((one: { id: number }) => one.id === member.id),
      (await as('guest').get(`/projects/${places.project.id}/members/all`)).body.find(
        (one: { id: number }) => one.id === member.id,
      ),
    ];
    for (const body of shown) assert.equal(body.member_role.name, name);
    assert.equal((await as('guest').get(`${url}/${places.people.guest.id}`, {})).status, kind === 'group' ? 200 : 404);

    const put = (change: object) => as('owner').put(`${url}/${member.id}`, { ...change });
    // Left out, the role and its level stay.
    assert.equal((await put({ access_level: 10, expires_at: '2999-01-01' })).body.member_role.id, role_id);
    const refused = await put({ access_level: 30, member_role_id: role_id });
    assert.deepEqual([refused.status, refused.body], [400, { message: { access_level: [roleText] } }]);
    const lost = await put({ access_level: 30 });
    assert.deepEqual([lost.status, lost.body.access_level, lost.body.member_role], [200, 30, undefined]);
    const changed = await put({ access_level: 30, member_role_id: other_id });
    assert.deepEqual([changed.status, changed.body.access_level, changed.body.member_role.id], [200, 30, other_id]);
    for (const empty of [null, '']) {
      await put({ access_level: 30, member_role_id: other_id });
      assert.deepEqual((await put({ access_level: 30, member_role_id: empty })).body.member_role, undefined);
    }
    assert.equal((await put({ access_level: 10 })).body.access_level, 10);
  });

  test(`an invalid custom role for a member of a ${kind} is refused and changes nothing`, async () => {
    const { as, person, ...places } = await world();
    const url = `/${kind}s/${places[kind].id}/members`;
    const role_id = await addRole({ as }, ['read_code']);
    const elsewhere = (
      await as('outsider').post('/groups', { name: 'elsewhere', path: `elsewhere-${places[kind].id}-${kind}` })
    ).body;
    const foreign = await addRole({ as }, ['read_code'], { group_id: elsewhere.id });
    const member = await person();
    const refusals: [object, object | string][] = [
      [{ access_level: 20, member_role_id: role_id }, { access_level: [roleText] }],
      [{ access_level: 10, member_role_id: foreign }, { member_role: ['not found'] }],
      [{ access_level: 10, member_role_id: 99_999_999 }, { member_role: ['not found'] }],
      [{ access_level: 10, member_role_id: '9223372036854775808' }, { member_role: ['not found'] }],
      [{ access_level: 10, member_role_id: 'x' }, 'member_role_id is invalid'],
    ];
    for (const [grant, message] of refusals) {
      const added = await as('owner').post(url, { user_id: member.id, ...grant });
      assert.deepEqual([added.status, added.body.message], [400, message]);
      const several = await as('owner').post(url, { user_id: [member.id, places.people.outsider.id], ...grant });
      assert.deepEqual([several.status, several.body.message], [400, message]);
    }
    assert.equal((await as('owner').get(`${url}/${member.id}`)).status, 404);
    await as('owner').post(url, { user_id: member.id, access_level: 10 });
    for (const [grant, message] of refusals)
      assert.deepEqual((await as('owner').put(`${url}/${member.id}`, { ...grant })).body.message, message);
    assert.deepEqual((await as('owner').get(`${url}/${member.id}`)).body.member_role, undefined);
  });
}

test('several users get a custom role at once, including existing members; another level removes it', async () => {
  const { as, group, person } = await world();
  const url = `/groups/${group.id}/members`;
  const role_id = await addRole({ as }, ['read_code']);
  const [a, b] = [await person(), await person()];
  await as('owner').post(url, { user_id: a.id, access_level: 20 });
  const both = await as('owner').post(url, { user_id: [a.id, b.id], access_level: 10, member_role_id: role_id });
  assert.deepEqual(both.body, { status: 'success' });
  for (const { id } of [a, b]) assert.equal((await as('owner').get(`${url}/${id}`)).body.member_role.id, role_id);
  const higher = await as('owner').post(url, { username: [a.username, b.username], access_level: 20 });
  assert.deepEqual(higher.body, { status: 'success' });
  for (const { id } of [a, b]) {
    const { body } = await as('owner').get(`${url}/${id}`);
    assert.deepEqual([body.access_level, body.member_role], [20, undefined]);
  }
});

test('a renewed membership does not keep the role of the expired one', async () => {
  const here = await world();
  const { as, group, db } = here;
  const url = `/groups/${group.id}/members`;
  const past = await personWith(here, `/groups/${group.id}`, ['read_code']);
  await sql`update members set expires_at = current_date where user_id = ${past.id}`.execute(db);
  const again = await as('owner').post(url, { user_id: past.id, access_level: 10 });
  assert.deepEqual([again.status, again.body.member_role], [201, undefined]);
});

test("only roles of the instance are available in a user's project", async () => {
  const { as, group, person } = await world();
  const owner = await person();
  const project = (await owner.client.post('/projects', { name: 'mine' })).body;
  const [ofGroup, ofInstance] = [
    await addRole({ as }, ['read_code'], { group_id: group.id }),
    await addRole({ as }, ['read_code']),
  ];
  const member = await person();
  const add = (member_role_id: number) =>
    owner.client.post(`/projects/${project.id}/members`, { user_id: member.id, access_level: 10, member_role_id });
  assert.deepEqual((await add(ofGroup)).body, { message: { member_role: ['not found'] } });
  assert.equal((await add(ofInstance)).body.member_role.id, ofInstance);
});

test('a member cannot grant a role with more permissions than their own, or change members who have one', async () => {
  const here = await world();
  const { as, group, project, person } = here;
  const add = (
    client: ReturnType<World['as']>,
    url: string,
    user_id: number,
    member_role_id: number,
    access_level = 10,
  ) => client.post(`${url}/members`, { user_id, access_level, member_role_id });
  const inProject = `/projects/${project.id}`;
  const inGroup = `/groups/${group.id}`;
  const [mild, wild] = [await addRole(here, ['read_code', 'admin_web_hook']), await addRole(here, ['remove_project'])];
  const [a, b] = [await person(), await person()];
  assert.equal((await add(as('maintainer'), inProject, a.id, wild)).status, 403);
  assert.equal((await add(as('maintainer'), inProject, a.id, mild)).status, 201);
  assert.equal(
    (await as('maintainer').put(`${inProject}/members/${a.id}`, { access_level: 10, member_role_id: wild })).status,
    403,
  );
  assert.equal((await add(as('owner'), inProject, b.id, wild)).status, 201);
  assert.equal(
    (await as('maintainer').put(`${inProject}/members/${b.id}`, { access_level: 20, member_role_id: null })).status,
    403,
  );
  assert.equal((await as('maintainer').delete(`${inProject}/members/${b.id}`)).status, 403);
  const several = await as('maintainer').post(`${inProject}/members`, {
    user_id: [a.id, b.id],
    access_level: 10,
    member_role_id: mild,
  });
  assert.deepEqual(several.body.message, { [b.username]: 'not authorized to update member' });

  const helper = await personWith(here, inGroup, ['admin_group_member', 'read_code']);
  const same = await addRole(here, ['admin_group_member']);
  const c = await person();
  assert.equal((await add(helper.client, inGroup, c.id, mild)).status, 403);
  assert.equal((await add(helper.client, inGroup, c.id, same)).status, 201);
  assert.equal(
    (await helper.client.put(`${inGroup}/members/${helper.id}`, { access_level: 10, member_role_id: mild })).status,
    403,
  );
  assert.equal(
    (await helper.client.put(`${inGroup}/members/${helper.id}`, { access_level: 10, member_role_id: same })).status,
    200,
  );
});

test('a member manager by role cannot delete members with more access further down', async () => {
  const here = await world();
  const { as, group, project, person } = here;
  const url = `/groups/${group.id}/members`;
  const helper = await personWith(here, `/groups/${group.id}`, ['admin_group_member']);
  const member = await person();
  await as('owner').post(url, { user_id: member.id, access_level: 10 });
  await as('owner').post(`/projects/${project.id}/members`, { user_id: member.id, access_level: 40 });
  assert.equal((await helper.client.delete(`${url}/${member.id}`)).status, 403);
  assert.equal((await as('owner').get(`/projects/${project.id}/members/${member.id}`)).body.access_level, 40);
  assert.equal((await helper.client.delete(`${url}/${member.id}?skip_subresources=true`)).status, 204);
  assert.equal((await as('owner').get(`/projects/${project.id}/members/${member.id}`)).status, 200);
});

test('a caller cannot rotate or revoke the token of a bot user with more access', async () => {
  const here = await world();
  const { as, project } = here;
  const url = `/projects/${project.id}/access_tokens`;
  const request = {
    name: 'program',
    scopes: ['api'],
    expires_at: new Date(Date.now() + 9e8).toISOString().slice(0, 10),
  };
  const token = (await as('owner').post(url, { ...request, access_level: 50 })).body;
  const helper = await personWith(here, `/projects/${project.id}`, ['manage_project_access_tokens']);
  for (const client of [as('maintainer'), helper.client]) {
    assert.equal((await client.post(`${url}/${token.id}/rotate`)).status, 403);
    assert.equal((await client.delete(`${url}/${token.id}`)).status, 403);
  }
  const low = (await helper.client.post(url, { ...request, access_level: 10 })).body;
  const high = await helper.client.post(url, { ...request, access_level: 20 });
  assert.deepEqual(
    [high.status, high.body.message],
    [
      400,
      "400 Bad request - Access level of the token can't be greater the access level of the user who created the token",
    ],
  );
  assert.equal((await helper.client.get(url)).body.length, 2);
  // Permissions of a bot user's role count like a level.
  const bot = { access_level: 10, member_role_id: await addRole(here, ['remove_project']) };
  assert.equal((await as('owner').put(`/projects/${project.id}/members/${low.user_id}`, bot)).status, 200);
  assert.equal((await helper.client.post(`${url}/${low.id}/rotate`)).status, 403);
  assert.equal((await helper.client.delete(`${url}/${low.id}`)).status, 403);
  const rotated = await as('owner').post(`${url}/${low.id}/rotate`);
  assert.equal(rotated.status, 200);
  const kept = (await as('owner').get(`/projects/${project.id}/members/${low.user_id}`)).body;
  assert.equal(kept.member_role.id, bot.member_role_id);
});

/** Two top-level groups of one owner, the first with a subgroup and a project, and members with roles of the first group and of the instance everywhere. */
async function twoTrees() {
  const here = await world();
  const { as, group, project, person } = here;
  const target = (await as('owner').post('/groups', { name: 'target', path: `target-${group.id}` })).body;
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const inside = (await as('owner').post('/projects', { name: 'inside', namespace_id: sub.id })).body;
  const [own, general] = [
    await addRole(here, ['read_code'], { group_id: group.id }),
    await addRole(here, ['archive_project']),
  ];
  const member = async (place: string, member_role_id: number) => {
    const { id, client } = await person();
    const added = await as('owner').post(`${place}/members`, { user_id: id, access_level: 10, member_role_id });
    assert.equal(added.status, 201);
    return { id, client };
  };
  const roleOf = async (place: string, { id }: { id: number }) => {
    const { body } = await as('owner').get(`${place}/members/${id}`);
    return [body.access_level, body.member_role?.id ?? null];
  };
  return { ...here, group, project, target, sub, inside, own, general, member, roleOf };
}

test('a transfer to another tree removes the roles of the old one; levels and roles of the instance stay', async () => {
  const { as, target, sub, inside, own, general, member, roleOf } = await twoTrees();
  const [inGroup, inProject] = [`/groups/${sub.id}`, `/projects/${inside.id}`];
  const members = [await member(inGroup, own), await member(inGroup, general)] as const;
  const projectMembers = [await member(inProject, own), await member(inProject, general)] as const;
  assert.equal((await members[0].client.get(`${inProject}/repository/branches`)).status, 200);
  assert.equal((await as('owner').post(`${inGroup}/transfer`, { group_id: target.id })).status, 201);
  assert.deepEqual(await roleOf(inGroup, members[0]), [10, null]);
  assert.deepEqual(await roleOf(inGroup, members[1]), [10, general]);
  assert.deepEqual(await roleOf(inProject, projectMembers[0]), [10, null]);
  assert.deepEqual(await roleOf(inProject, projectMembers[1]), [10, general]);
  assert.equal((await members[0].client.get(`${inProject}/repository/branches`)).status, 403);
  assert.equal((await members[1].client.post(`${inProject}/archive`)).status, 201);
});

test('a project loses its roles in a transfer to another tree or a user, and keeps them within its tree', async () => {
  const { as, group, target, sub, inside, own, general, member, roleOf, people } = await twoTrees();
  const place = `/projects/${inside.id}`;
  const [a, b] = [await member(place, own), await member(place, general)];
  const move = async (namespace: number | string) =>
    assert.equal((await as('owner').put(`${place}/transfer`, { namespace })).status, 200);
  await move(group.id);
  assert.deepEqual(await roleOf(place, a), [10, own]);
  await move(people.owner.username);
  assert.deepEqual(await roleOf(place, a), [10, null]);
  assert.deepEqual(await roleOf(place, b), [10, general]);
  await move(sub.id);
  await as('owner').put(`${place}/members/${a.id}`, { access_level: 10, member_role_id: own });
  await move(target.id);
  assert.deepEqual(await roleOf(place, a), [10, null]);
});

test('a group that is no longer top-level has no roles of its own, and a subgroup that becomes top-level keeps none', async () => {
  const { as, group, target, sub, own, general, member, roleOf, db } = await twoTrees();
  const [inGroup, inSub] = [`/groups/${group.id}`, `/groups/${sub.id}`];
  const [a, b] = [await member(inGroup, own), await member(inSub, own)];
  const c = await member(inSub, general);
  assert.equal((await as('owner').post(`${inSub}/transfer`)).status, 201);
  assert.deepEqual(await roleOf(inSub, b), [10, null]);
  assert.deepEqual(await roleOf(inGroup, a), [10, own]);
  assert.deepEqual(await roleOf(inSub, c), [10, general]);
  assert.equal((await as('owner').post(`${inGroup}/transfer`, { group_id: target.id })).status, 201);
  assert.deepEqual(await roleOf(inGroup, a), [10, null]);
  assert.equal(await db.selectFrom('member_roles').select('id').where('id', '=', own).executeTakeFirst(), undefined);
});
