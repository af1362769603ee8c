import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pagesFrom } from '../../../../test/support/client.ts';
import { world } from '../../../../test/support/world.ts';

const namesIn = (answer: { body: { path: string }[] }) => answer.body.map(({ path }) => path);

test('a top-level group is created, visible to its owner and hidden from others', async () => {
  const { as, person } = await world();
  const founder = await person();
  const path = `founded-${founder.id}`;
  const added = await founder.client.post('/groups', { name: 'Founded here', path, description: 'First' });
  assert.equal(added.status, 201);
  assert.equal(added.body.full_path, path);
  assert.equal(added.body.full_name, 'Founded here');
  assert.equal(added.body.web_url, `http://coppice.test/groups/${path}`);
  assert.equal(added.body.visibility, 'private');
  assert.equal(added.body.parent_id, null);
  assert.deepEqual([added.body.membership_lock, added.body.wiki_access_level], [false, 'enabled']);
  assert.equal('projects' in added.body, false);

  const shown = await founder.client.get(`/groups/${path}`);
  assert.deepEqual(shown.body, { ...added.body, projects: [], shared_projects: [] });
  assert.deepEqual((await founder.client.get(`/groups/${added.body.id}`, { with_projects: false })).body, added.body);
  const [owner] = (await founder.client.get(`/groups/${path}/members`)).body;
  assert.deepEqual([owner.id, owner.access_level, owner.created_by.id], [founder.id, 50, founder.id]);

  for (const answer of [await as('outsider').get(`/groups/${path}`), await as('anonymous').get(`/groups/${path}`)]) {
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.body, { message: '404 Group Not Found' });
  }
  assert.equal((await as('admin').get(`/groups/${path}`)).status, 200);
  assert.equal((await as('anonymous').post('/groups', { name: 'x', path: `${path}-2` })).status, 401);
});

test('users without can_create_group and external users create no top-level groups; inside a group their role decides', async () => {
  const { as, db, people, group } = await world();
  await db.updateTable('users').set({ can_create_group: false }).where('id', '=', people.maintainer.id).execute();
  await db.updateTable('users').set({ external: true }).where('id', '=', people.outsider.id).execute();
  for (const persona of ['maintainer', 'outsider'] as const) {
    const refused = await as(persona).post('/groups', { name: 'mine', path: `mine-${people[persona].id}` });
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body, { message: '403 Forbidden' });
  }
  const inside = await as('maintainer').post('/groups', { name: 'inside', path: 'inside', parent_id: group.id });
  assert.equal(inside.status, 201);
  assert.equal(inside.body.full_path, `${group.path}/inside`);
  assert.equal(inside.body.full_name, `${group.path} / inside`);
  // The creator of a group owns it, and can change its settings.
  assert.equal(
    (await as('maintainer').put(`/groups/${inside.body.id}`, { description: 'Mine' })).body.description,
    'Mine',
  );
});

test('maintainers create subgroups, or only owners, depending on the setting', async () => {
  const { as, group } = await world();
  const add = (persona: 'developer' | 'maintainer' | 'owner' | 'outsider', path: string) =>
    as(persona).post('/groups', { name: path, path, parent_id: group.id });
  assert.equal((await add('maintainer', 'aa')).status, 201);
  assert.equal((await add('developer', 'bb')).status, 403);
  const hidden = await add('outsider', 'bb');
  assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 Group Not Found' }]);

  assert.equal((await as('owner').put(`/groups/${group.id}`, { subgroup_creation_level: 'owner' })).status, 200);
  assert.equal((await add('maintainer', 'bb')).status, 403);
  assert.equal((await add('owner', 'bb')).status, 201);
  assert.deepEqual(namesIn(await as('guest').get(`/groups/${group.id}/subgroups`)), ['aa', 'bb']);
});

test('invalid names of groups are refused in one sentence on creation and by parameter on update', async () => {
  const { as, group, project } = await world();
  const add = async (more: object) =>
    (await as('owner').post('/groups', { name: 'fine', path: 'fine', ...more })).body.message;
  assert.equal(await add({ path: group.path }), 'Failed to save group {:path=>["has already been taken"]}');
  assert.equal(
    await add({ path: group.path.toUpperCase() }),
    'Failed to save group {:path=>["has already been taken"]}',
  );
  assert.equal(await add({ path: 'admin' }), 'Failed to save group {:path=>["admin is a reserved name"]}');
  assert.equal(
    await add({ name: '', path: 'x' }),
    'Failed to save group {:name=>["can\'t be blank"], :path=>["is too short (minimum is 2 characters)"]}',
  );
  assert.match(await add({ path: '-x-' }), /^Failed to save group \{:path=>\["can only include non-accented letters/);
  assert.match(await add({ name: '<b>' }), /^Failed to save group \{:name=>\["can contain only letters/);
  assert.equal(
    await add({ description: 'x'.repeat(501) }),
    'Failed to save group {:description=>["is too long (maximum is 500 characters)"]}',
  );
  assert.equal(await add({ default_branch: 'a..b' }), 'Failed to save group {:default_branch=>["is invalid"]}');
  assert.equal(
    await add({ parent_id: group.id, path: project.path }),
    'Failed to save group {:path=>["has already been taken"]}',
  );
  assert.equal(
    await add({ parent_id: group.id, path: `${project.path}.wiki` }),
    'Failed to save group {:path=>["has already been taken"]}',
  );
  assert.equal((await as('owner').post('/groups', {})).body.message, 'name is missing, path is missing');
  assert.equal(
    (await as('owner').post('/groups', { name: 'a', path: 'ab', visibility: 'secret' })).body.message,
    'visibility does not have a valid value',
  );

  const first = (await as('owner').post('/groups', { name: 'one', path: 'one', parent_id: group.id })).body;
  const second = (await as('owner').post('/groups', { name: 'two', path: 'two', parent_id: group.id })).body;
  assert.equal(
    await add({ name: 'one', parent_id: group.id }),
    'Failed to save group {:name=>["has already been taken"]}',
  );
  const refused = await as('owner').put(`/groups/${second.id}`, { name: 'one', path: 'one' });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body, { message: { name: ['has already been taken'], path: ['has already been taken'] } });
  assert.deepEqual(namesIn(await as('owner').get(`/groups/${group.id}/subgroups`)), ['one', 'two']);
  assert.equal((await as('owner').put(`/groups/${first.id}`, { name: 'one', path: 'one' })).status, 200);
});

test('groups are nested at most 20 levels deep', async () => {
  const { as, group } = await world();
  let parent_id = group.id;
  for (let depth = 2; depth <= 20; depth++) {
    const added = await as('owner').post('/groups', { name: 'deeper', path: `level-${depth}`, parent_id });
    assert.equal(added.status, 201);
    parent_id = added.body.id;
  }
  const refused = await as('owner').post('/groups', { name: 'deeper', path: 'level-21', parent_id });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body, { message: 'Failed to save group {:parent_id=>["has too deep level of nesting"]}' });
  assert.equal((await as('owner').get(`/groups/${group.id}/descendant_groups`)).body.length, 19);
});

test('a new path changes all paths in the group, and the old path is free again', async () => {
  const { as, group, project, people } = await world();
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const leaf = (await as('owner').post('/groups', { name: 'leaf', path: 'leaf', parent_id: sub.id })).body;
  const path = `moved-${group.id}`;
  const moved = await as('owner').put(`/groups/${group.id}`, { path });
  assert.equal(moved.status, 200);
  assert.deepEqual([moved.body.path, moved.body.full_path], [path, path]);
  assert.equal((await as('owner').get(`/groups/${leaf.id}`)).body.full_path, `${path}/sub/leaf`);
  assert.equal((await as('owner').get(`/groups/${encodeURIComponent(`${path}/sub/leaf`)}`)).body.id, leaf.id);
  assert.equal(
    (await as('owner').get(`/projects/${encodeURIComponent(`${path}/${project.path}`)}`)).body.id,
    project.id,
  );
  assert.equal((await as('owner').get(`/groups/${group.path}`)).status, 404);

  assert.equal((await as('owner').put(`/groups/${sub.id}`, { path: 'Sub' })).body.full_path, `${path}/Sub`);
  assert.equal((await as('owner').get(`/groups/${leaf.id}`)).body.full_path, `${path}/Sub/leaf`);

  const taken = await as('owner').put(`/groups/${group.id}`, { path: people.guest.username });
  assert.deepEqual([taken.status, taken.body], [400, { message: { path: ['has already been taken'] } }]);
  const inTheWay = await as('owner').put(`/groups/${sub.id}`, { path: project.path });
  assert.deepEqual([inTheWay.status, inTheWay.body], [400, { message: { path: ['has already been taken'] } }]);
  assert.equal((await as('owner').get(`/groups/${leaf.id}`)).body.full_path, `${path}/Sub/leaf`);
  assert.equal((await as('owner').post('/groups', { name: 'again', path: group.path })).status, 201);
});

test('a child is never more visible than its parent', async () => {
  const { as, group, db, project } = await world();
  const above = await as('owner').post('/groups', {
    name: 'open',
    path: 'open',
    parent_id: group.id,
    visibility: 'public',
  });
  const text = 'public is not allowed since the parent group has a private visibility.';
  assert.deepEqual(
    [above.status, above.body],
    [400, { message: `Failed to save group {:visibility_level=>["${text}"]}` }],
  );

  assert.equal((await as('owner').put(`/groups/${group.id}`, { visibility: 'public' })).status, 200);
  const open = await as('owner').post('/groups', {
    name: 'open',
    path: 'open',
    parent_id: group.id,
    visibility: 'public',
  });
  assert.equal(open.status, 201);
  const below = await as('owner').put(`/groups/${group.id}`, { visibility: 'internal' });
  assert.deepEqual(below.body, {
    message: { visibility_level: ['internal is not allowed since there are sub-groups with higher visibility.'] },
  });
  assert.equal((await as('owner').put(`/groups/${open.body.id}`, { visibility: 'private' })).status, 200);

  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  const around = await as('owner').put(`/groups/${group.id}`, { visibility: 'private' });
  assert.deepEqual(around.body, {
    message: {
      visibility_level: ['private is not allowed since this group contains projects with higher visibility.'],
    },
  });
  assert.equal((await as('anonymous').get(`/groups/${group.id}`)).body.visibility, 'public');
});

test('only owners update a group, and parameters that are left out stay', async () => {
  const { as, group } = await world();
  const changed = await as('owner').put(`/groups/${group.id}`, {
    description: 'What we do',
    project_creation_level: 'maintainer',
    default_branch: 'trunk',
    default_branch_protection: 3,
    emails_disabled: true,
    mentions_disabled: true,
    request_access_enabled: false,
    membership_lock: true,
    wiki_access_level: 'private',
  });
  assert.equal(changed.status, 200);
  const { description, default_branch, emails_enabled, emails_disabled, default_branch_protection_defaults } =
    changed.body;
  assert.deepEqual(
    { description, default_branch, emails_enabled, emails_disabled },
    { description: 'What we do', default_branch: 'trunk', emails_enabled: false, emails_disabled: true },
  );
  assert.deepEqual([changed.body.membership_lock, changed.body.wiki_access_level], [true, 'private']);
  assert.deepEqual(default_branch_protection_defaults, {
    allowed_to_push: [{ access_level: 40 }],
    allow_force_push: true,
    allowed_to_merge: [{ access_level: 30 }],
    developer_can_initial_push: false,
  });
  assert.deepEqual((await as('owner').put(`/groups/${group.id}`, {})).body, changed.body);
  assert.equal(
    (await as('owner').put(`/groups/${group.id}`, { default_branch: null, mentions_disabled: null })).body
      .default_branch,
    null,
  );

  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['guest', 403],
    ['maintainer', 403],
  ] as const)
    assert.equal((await as(persona).put(`/groups/${group.id}`, { description: 'Hacked' })).status, status, persona);
  assert.equal((await as('guest').get(`/groups/${group.id}`)).body.description, 'What we do');
  assert.equal((await as('admin').put(`/groups/${group.id}`, { description: 'Repaired' })).status, 200);
});

test('a group shows the protection of new default branches in addition to its level', async () => {
  const { as, group } = await world();
  const path = `/groups/${group.id}`;
  const said = { allowed_to_push: [{ access_level: 30 }, { access_level: 40 }], code_owner_approval_required: true };
  const shown = {
    ...said,
    allow_force_push: false,
    allowed_to_merge: [{ access_level: 40 }],
    developer_can_initial_push: false,
  };
  const changed = await as('owner').put(path, { default_branch_protection_defaults: said });
  assert.deepEqual([changed.status, changed.body.default_branch_protection_defaults], [200, shown]);
  assert.equal((await as('owner').put(path, { description: 'Kept' })).status, 200);
  assert.deepEqual((await as('owner').get(path)).body.default_branch_protection_defaults, shown);
  const refused = await as('owner').put(path, {
    default_branch_protection_defaults: { allowed_to_merge: [{ access_level: 20 }] },
  });
  assert.equal(refused.status, 400);
  const sub = { name: 'strict', path: 'strict', parent_id: group.id, default_branch_protection_defaults: said };
  const made = await as('owner').post('/groups', sub);
  assert.deepEqual([made.status, made.body.default_branch_protection_defaults], [201, shown]);
  // Another level is what is said last.
  const { body } = await as('owner').put(path, { default_branch_protection: 3 });
  assert.deepEqual(body.default_branch_protection_defaults, {
    allowed_to_push: [{ access_level: 40 }],
    allow_force_push: true,
    allowed_to_merge: [{ access_level: 30 }],
    developer_can_initial_push: false,
  });
});

test('a group shows the projects that are visible to the caller, newest first', async () => {
  const { as, group, project, person } = await world();
  await as('owner').put(`/groups/${group.id}`, { visibility: 'public' });
  const open = await as('owner').post('/projects', { name: 'open', namespace_id: group.id, visibility: 'public' });
  assert.equal(open.status, 201);
  const shown = (await as('guest').get(`/groups/${group.id}`)).body;
  assert.deepEqual(
    shown.projects.map(({ id }: { id: number }) => id),
    [open.body.id, project.id],
  );
  assert.equal(shown.projects[0].name_with_namespace, `${group.path} / open`);
  const stranger = await person();
  for (const client of [stranger.client, as('anonymous')])
    assert.deepEqual(
      (await client.get(`/groups/${group.id}`)).body.projects.map(({ id }: { id: number }) => id),
      [open.body.id],
    );
});

test('lists contain the groups of the caller with their ancestors, and all visible groups only on request', async () => {
  const { as, group, project, person } = await world();
  const sub = (await as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })).body;
  const secret = (await as('owner').post('/groups', { name: 'secret', path: 'secret', parent_id: group.id })).body;
  const open = (
    await as('admin').post('/groups', { name: 'Open to all', path: `open-${group.id}`, visibility: 'public' })
  ).body;
  const inside = (
    await as('admin').post('/groups', { name: 'For us', path: `internal-${group.id}`, visibility: 'internal' })
  ).body;
  const ids = async (client: ReturnType<typeof as>, parameters = {}, path = '/groups') =>
    (await client.get(path, { per_page: 100, ...parameters })).body.map(({ id }: { id: number }) => id) as number[];

  const member = await person();
  assert.deepEqual(await ids(member.client), []);
  assert.equal(
    (await as('owner').post(`/groups/${sub.id}/members`, { user_id: member.id, access_level: 10 })).status,
    201,
  );
  assert.deepEqual(await ids(member.client), [group.id, sub.id]);
  assert.equal((await member.client.get(`/groups/${group.id}`)).status, 200);
  assert.deepEqual(await ids(member.client, {}, `/groups/${group.id}/subgroups`), [sub.id]);
  assert.deepEqual(
    (await ids(as('guest'))).toSorted((one, other) => one - other),
    [group.id, sub.id, secret.id],
  );

  const worker = await person();
  await as('owner').post(`/projects/${project.id}/members`, { user_id: worker.id, access_level: 30 });
  assert.deepEqual(await ids(worker.client), [group.id]);

  const all = await ids(member.client, { all_available: true });
  assert.ok(all.includes(open.id) && all.includes(inside.id) && all.includes(sub.id) && !all.includes(secret.id));
  const anonymous = await ids(as('anonymous'));
  assert.ok(anonymous.includes(open.id) && !anonymous.includes(inside.id) && !anonymous.includes(group.id));
  assert.ok((await ids(as('admin'), { search: secret.path })).includes(secret.id));
  assert.deepEqual(await ids(as('admin'), { owned: true }), [inside.id, open.id]);

  assert.deepEqual(await ids(as('owner'), { owned: true }), [group.id, secret.id, sub.id]);
  assert.deepEqual(await ids(as('maintainer'), { owned: true }), []);
  assert.deepEqual(await ids(as('maintainer'), { min_access_level: 40 }), [group.id, secret.id, sub.id]);
  assert.deepEqual(await ids(as('maintainer'), { min_access_level: 50 }), []);
  assert.deepEqual(await ids(as('anonymous'), { owned: true }), []);
});

test('lists of groups are searched, ordered and filtered', async () => {
  const { group, person } = await world();
  const { client } = await person();
  const marker = `q${group.id}z`;
  const add = async (name: string, path: string, more = {}) =>
    (await client.post('/groups', { name, path: `${path}-${marker}`, ...more })).body;
  const b = await add('Beta', 'one', { visibility: 'public' });
  const a = await add('Alpha_1', 'two');
  const c = await add('Gamma', 'three');
  const inA = (await client.post('/groups', { name: 'Child', path: 'child', parent_id: a.id })).body;
  const ids = async (parameters: object, path = '/groups') =>
    (await client.get(path, { ...parameters })).body.map(({ id }: { id: number }) => id);

  assert.deepEqual(await ids({}), [a.id, b.id, inA.id, c.id]);
  assert.deepEqual(await ids({ sort: 'desc' }), [c.id, inA.id, b.id, a.id]);
  assert.deepEqual(await ids({ order_by: 'id', sort: 'desc' }), [inA.id, c.id, a.id, b.id]);
  assert.deepEqual(await ids({ order_by: 'path' }), [inA.id, b.id, c.id, a.id]);
  assert.deepEqual(await ids({ order_by: 'similarity', search: 'gamma' }), [c.id]);
  assert.deepEqual(await ids({ search: 'ALPHA' }), [a.id]);
  assert.deepEqual(await ids({ search: '_' }), [a.id]);
  assert.deepEqual(await ids({ search: `two-${marker}` }), [a.id, inA.id]);
  assert.deepEqual(await ids({ search: `two-${marker}` }, `/groups/${a.id}/subgroups`), []);
  assert.deepEqual(await ids({ search: 'chi' }, `/groups/${a.id}/descendant_groups`), [inA.id]);
  assert.deepEqual(await ids({ top_level_only: true }), [a.id, b.id, c.id]);
  assert.deepEqual(await ids({ visibility: 'public' }), [b.id]);
  assert.deepEqual(await ids({ skip_groups: [a.id, c.id] }), [b.id, inA.id]);
  const second = await client.get('/groups', { per_page: 2, page: 2 });
  assert.deepEqual(namesIn(second), ['child', `three-${marker}`]);
  assert.equal(second.headers.get('x-total'), '4');
  assert.equal(
    (await client.get('/groups', { order_by: 'size' })).body.message,
    'order_by does not have a valid value',
  );
});

test('anonymous callers can read the list of groups by keyset, ordered by name only', async () => {
  const { as, group } = await world();
  const marker = `q${group.id}z`;
  for (const name of ['kc', 'ka', 'kb'])
    await as('admin').post('/groups', { name, path: `${name}-${marker}`, visibility: 'public' });
  const seen: string[] = [];
  const first = `/groups?pagination=keyset&order_by=name&sort=asc&per_page=1&search=${marker}`;
  for await (const page of pagesFrom(as('anonymous'), first))
    seen.push(...page.body.map(({ name }: { name: string }) => name));
  assert.deepEqual(seen, ['ka', 'kb', 'kc']);
  for (const refused of [
    await as('owner').get('/groups', { pagination: 'keyset' }),
    await as('anonymous').get('/groups', { pagination: 'keyset', order_by: 'path' }),
    await as('anonymous').get('/groups', { pagination: 'keyset', sort: 'desc' }),
  ])
    assert.equal(refused.status, 405);
});
