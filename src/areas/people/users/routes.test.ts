import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, pagesFrom } from '../../../../test/support/client.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { createProject } from '../../spaces/projects/index.ts';
import { createToken } from '../personal_access_tokens/actions.ts';
import { ghostUser } from './index.ts';

let count = 0;

/** The parameters of a unique user. */
function newcomer(more: object = {}) {
  const username = `newcomer-${process.pid}-${++count}`;
  return { username, name: 'New Comer', email: `${username}@example.com`, password: 'long enough to do', ...more };
}

/** A client with a new token of a user. */
async function clientFor({ db, url }: World, user_id: number) {
  const { value } = await createToken(db, { user_id, name: 'test', scopes: ['api'], expires_at: null });
  return clientOf(`${url}/api/v4`, value);
}

const basicMembers = ['id', 'username', 'name', 'state', 'locked', 'public_email', 'avatar_url', 'web_url'];
const ids = (body: { id: number }[]) => body.map(({ id }) => id);

test('the current user is shown, with more fields for administrators', async () => {
  const { as, people } = await world();
  const own = await as('developer').get('/user');
  assert.equal(own.status, 200);
  const { id, username } = people.developer;
  assert.equal(own.body.id, id);
  assert.equal(own.body.email, `${username}@example.com`);
  assert.equal(own.body.commit_email, `${username}@example.com`);
  assert.equal(own.body.web_url, `http://coppice.test/${username}`);
  assert.equal(own.body.can_create_project, true);
  assert.equal(own.body.bot, false);
  assert.equal('is_admin' in own.body, false);
  assert.equal('note' in own.body, false);

  const admin = await as('admin').get('/user');
  assert.equal(admin.body.is_admin, true);
  assert.equal(admin.body.created_by, null);
  assert.equal(admin.body.using_license_seat, false, 'an administrator without memberships');
  assert.equal((await as('anonymous').get('/user')).status, 401);
});

test('a user is shown to signed-in callers, without private fields', async () => {
  const { as, people } = await world();
  const url = `/users/${people.guest.id}`;
  const shown = await as('outsider').get(url);
  assert.equal(shown.status, 200);
  assert.equal(shown.body.username, people.guest.username);
  assert.equal(shown.body.bio, '');
  assert.equal(shown.body.pronouns, null);
  for (const hidden of ['email', 'is_admin', 'note', 'last_activity_on'])
    assert.equal(hidden in shown.body, false, hidden);
  assert.equal((await as('admin').get(url)).body.email, `${people.guest.username}@example.com`);

  const anonymous = await as('anonymous').get(url);
  assert.equal(anonymous.status, 403);
  assert.deepEqual(anonymous.body, { message: '403 Forbidden - Not authorized!' });
  const nobody = await as('outsider').get('/users/99999999');
  assert.equal(nobody.status, 404);
  assert.deepEqual(nobody.body, { message: '404 User Not Found' });
  assert.equal((await as('outsider').get(`/users/${people.guest.username}`)).status, 400);
});

test('a private profile shows others only the basic fields', async () => {
  const { as, people } = await world();
  const url = `/users/${people.guest.id}`;
  await as('admin').put(url, { private_profile: true, bio: 'secret' });
  assert.deepEqual(Object.keys((await as('outsider').get(url)).body), basicMembers);
  assert.equal((await as('guest').get(url)).body.bio, 'secret');
  assert.equal((await as('admin').get(url)).body.bio, 'secret');
});

test('an administrator creates a user, who has a namespace and can sign in at once', async () => {
  const here = await world();
  const { as, people, db } = here;
  const wish = newcomer({
    skip_confirmation: true,
    bio: 'hello',
    job_title: 'Engineer',
    organization: 'Example',
    external: true,
  });
  const added = await as('admin').post('/users', wish);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { id, username, email, bio, external, created_by, namespace_id, work_information, confirmed_at } = added.body;
  assert.deepEqual(
    { username, email, bio, external, work_information },
    {
      username: wish.username,
      email: wish.email,
      bio: 'hello',
      external: true,
      work_information: 'Engineer at Example',
    },
  );
  assert.equal(created_by.id, people.admin.id);
  assert.notEqual(confirmed_at, null);
  assert.equal(added.body.can_create_group, true);
  assert.equal(added.body.projects_limit, 100_000);
  assert.deepEqual(
    await db
      .selectFrom('namespaces')
      .select(['full_path', 'owner_id'])
      .where('id', '=', namespace_id)
      .executeTakeFirst(),
    { full_path: wish.username, owner_id: id },
  );
  const { password_digest } = await db
    .selectFrom('users')
    .select('password_digest')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  assert.match(password_digest!, /^scrypt\$/);
  const client = await clientFor(here, id);
  assert.equal((await client.get('/user')).body.id, id);
});

test('without skip_confirmation the address of a new user must be confirmed', async () => {
  const here = await world();
  const { as } = here;
  const added = await as('admin').post('/users', newcomer({ password: undefined, force_random_password: true }));
  assert.equal(added.status, 201);
  assert.equal(added.body.confirmed_at, null);
  // Meanwhile the user may work.
  const client = await clientFor(here, added.body.id);
  assert.equal((await client.get('/user')).status, 200);

  // The administrator confirms the address.
  await as('admin').put(`/users/${added.body.id}`, { email: added.body.email, skip_reconfirmation: true });
  assert.notEqual((await client.get('/user')).body.confirmed_at, null);
});

test('invalid values of users are refused by parameter, and no user is created', async () => {
  const { as, group } = await world();
  const refusals: [object, object | string, number?][] = [
    [{ password: 'short' }, { password: ['is too short (minimum is 8 characters)'] }],
    [{ password: 'x'.repeat(129) }, { password: ['is too long (maximum is 128 characters)'] }],
    [{ password: 'Password123' }, { password: ['must not contain commonly used combinations of words and letters'] }],
    [{ password: undefined, reset_password: false }, { password: ["can't be blank"] }],
    [
      { email: 'nobody', name: '' },
      { email: ['is invalid'], name: ["can't be blank"] },
    ],
    [{ name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ username: 'admin' }, { username: ['admin is a reserved name'] }],
    [
      { bio: 'x'.repeat(256), pronouns: 'x'.repeat(51) },
      { bio: ['is too long (maximum is 255 characters)'], pronouns: ['is too long (maximum is 50 characters)'] },
    ],
    [{ projects_limit: -1 }, { projects_limit: ['must be greater than or equal to 0'] }],
    [{ website_url: 'javascript:alert(1)' }, { website_url: ['is not a valid URL'] }],
    [{ public_email: 'other@example.com' }, { public_email: ['is not an email you own'] }],
    [{ commit_email: 'other@example.com', skip_confirmation: true }, { commit_email: ['is not an email you own'] }],
    [{ username: group.path }, { username: ['has already been taken'] }],
  ];
  for (const bad of ['-a', 'a.', 'a.git', 'a.atom', 'a b', 'ä', 'a/b'])
    refusals.push([
      { username: bad },
      {
        username: [
          "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
        ],
      },
    ]);
  const before = (await as('admin').get('/users', { per_page: 1 })).headers.get('x-total');
  for (const [change, message] of refusals) {
    const refused = await as('admin').post('/users', newcomer(change));
    assert.equal(refused.status, 400, JSON.stringify(change));
    assert.deepEqual(refused.body, { message });
  }
  const named = newcomer();
  const weak = await as('admin').post('/users', { ...named, password: named.email.toUpperCase() });
  assert.deepEqual(weak.body, {
    message: { password: ['must not contain commonly used combinations of words and letters'] },
  });

  const missing = await as('admin').post('/users', {});
  const text =
    'email is missing, name is missing, username is missing, password, reset_password, force_random_password are missing, at least one parameter must be provided';
  assert.deepEqual(missing.body, { message: text, error: text });
  assert.equal((await as('admin').get('/users', { per_page: 1 })).headers.get('x-total'), before);
});

test('a taken address or username is a conflict, regardless of case', async () => {
  const { as, people } = await world();
  const { username } = people.guest;
  const address = await as('admin').post('/users', newcomer({ email: `${username}@EXAMPLE.com`, username }));
  assert.equal(address.status, 409);
  assert.deepEqual(address.body, { message: 'Email has already been taken' });
  const name = await as('admin').post('/users', newcomer({ username: username.toUpperCase() }));
  assert.equal(name.status, 409);
  assert.deepEqual(name.body, { message: 'Username has already been taken' });

  const url = `/users/${people.owner.id}`;
  assert.equal((await as('admin').put(url, { username })).status, 409);
  assert.equal((await as('admin').put(url, { email: `${username}@example.com` })).status, 409);
  assert.equal((await as('admin').get(url)).body.username, people.owner.username);
});

test('only administrators create and update users', async () => {
  const { as, people } = await world();
  for (const [persona, status] of [
    ['anonymous', 401],
    ['owner', 403],
  ] as const) {
    assert.equal((await as(persona).post('/users', newcomer())).status, status);
    assert.equal((await as(persona).put(`/users/${people.owner.id}`, { admin: true })).status, status);
    assert.equal((await as(persona).post(`/users/${people.guest.id}/block`)).status, status);
  }
  assert.equal((await as('admin').get(`/users/${people.owner.id}`)).body.is_admin, false);
});

test('an update keeps parameters that are left out', async () => {
  const { as, people } = await world();
  const url = `/users/${people.guest.id}`;
  const { plan, trial, sign_in_count, highest_role, ...before } = (await as('admin').get(url)).body;
  assert.deepEqual([plan, trial, sign_in_count, highest_role], ['ultimate', false, 0, 10]);
  const changed = await as('admin').put(url, { note: 'nice', pronouns: 'they', projects_limit: 0, admin: true });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, {
    ...before,
    note: 'nice',
    pronouns: 'they',
    projects_limit: 0,
    can_create_project: false,
    is_admin: true,
  });
  const cleared = await as('admin').put(url, { note: null, pronouns: null });
  assert.equal(cleared.body.note, null);
  assert.equal(cleared.body.pronouns, null);
  assert.equal((await as('admin').put('/users/99999999', { note: 'x' })).status, 404);
});

test('renaming a user renames the paths of their projects', async () => {
  const here = await world();
  const { as, people, db, services } = here;
  const { id, username } = people.owner;
  const namespace = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('owner_id', '=', id)
    .executeTakeFirstOrThrow();
  const project = await createProject(services, {
    name: 'Own',
    path: 'own',
    namespace,
    creator_id: id,
    default_branch: 'main',
  });
  const pathOf = async () =>
    (await db.selectFrom('projects').select('full_path').where('id', '=', project).executeTakeFirstOrThrow()).full_path;
  assert.equal(await pathOf(), `${username}/own`);

  const taken = await as('admin').put(`/users/${id}`, { username: here.group.path });
  assert.deepEqual(taken.body, { message: { username: ['has already been taken'] } });
  assert.equal(await pathOf(), `${username}/own`);

  const renamed = await as('admin').put(`/users/${id}`, { username: `${username}-new`, name: 'Other' });
  assert.equal(renamed.status, 200);
  assert.equal(renamed.body.web_url, `http://coppice.test/${username}-new`);
  assert.equal(await pathOf(), `${username}-new/own`);
  const row = await db
    .selectFrom('namespaces')
    .select(['path', 'full_path', 'name'])
    .where('owner_id', '=', id)
    .executeTakeFirst();
  assert.deepEqual(row, { path: `${username}-new`, full_path: `${username}-new`, name: 'Other' });
});

test('a new address must be confirmed, unless the administrator skips that', async () => {
  const { as, people } = await world();
  const { id, username } = people.guest;
  const url = `/users/${id}`;
  const old = `${username}@example.com`;
  await as('admin').put(url, { public_email: old, commit_email: old });

  const waiting = await as('admin').put(url, { email: `new-${old}` });
  assert.equal(waiting.status, 200);
  assert.equal(waiting.body.email, old);

  const taken = await as('admin').put(url, { email: `new-${old}`, skip_reconfirmation: true });
  assert.equal(taken.body.email, `new-${old}`);
  // The old address still belongs to the user, and stays the public and commit address.
  assert.deepEqual([taken.body.public_email, taken.body.commit_email], [old, old]);

  const hidden = await as('admin').put(url, { commit_email: '_private' });
  assert.equal(hidden.body.commit_email, `${id}-${username}@users.noreply.coppice.test`);
  assert.equal((await as('admin').put(url, { commit_email: null })).body.commit_email, `new-${old}`);
});

test('a blocked user is refused at once, until they are unblocked', async () => {
  const { as, people, project } = await world();
  const url = `/users/${people.developer.id}`;
  const notBlocked = await as('admin').post(`${url}/unblock`);
  assert.equal(notBlocked.status, 201);
  assert.equal(notBlocked.body, false);

  const blocked = await as('admin').post(`${url}/block`);
  assert.equal(blocked.status, 201);
  assert.equal(blocked.body, true);
  assert.equal((await as('admin').post(`${url}/block`)).body, null);
  assert.equal((await as('admin').get(url)).body.state, 'blocked');
  for (const path of ['/user', `/projects/${project.id}/freeze_periods`, '/users']) {
    const refused = await as('developer').get(path);
    assert.equal(refused.status, 403, path);
    assert.deepEqual(refused.body, { message: '403 Forbidden - Your account has been blocked.' });
  }

  assert.equal((await as('admin').post(`${url}/unblock`)).body, true);
  assert.equal((await as('developer').get('/user')).status, 200);
});

test('administrators cannot block themselves, the ghost user or unknown users', async () => {
  const { as, people, db, services } = await world();
  const self = await as('admin').post(`/users/${people.admin.id}/block`);
  assert.equal(self.status, 403);
  assert.deepEqual(self.body, { message: '403 Forbidden - The API initiating user cannot be blocked by the API' });
  assert.deepEqual((await as('admin').post('/users/99999999/block')).body, { message: '404 User Not Found' });
  assert.deepEqual((await as('admin').post('/users/99999999/unblock')).body, { message: '404 User Not Found' });

  const ghost = await as('admin').post(`/users/${await ghostUser(services)}/block`);
  assert.equal(ghost.status, 403);
  assert.deepEqual(ghost.body, { message: 'An internal user cannot be blocked' });

  await db.updateTable('users').set({ state: 'deactivated' }).where('id', '=', people.planner.id).execute();
  const sleeping = await as('admin').post(`/users/${people.planner.id}/unblock`);
  assert.deepEqual(sleeping.body, { message: '403 Forbidden - Deactivated users cannot be unblocked by the API' });
  assert.equal((await as('admin').get('/user')).body.state, 'active');
});

test('anonymous callers find one user by username and cannot list users', async () => {
  const { as, people } = await world();
  const { id, username } = people.guest;
  const one = await as('anonymous').get('/users', { username: username.toUpperCase() });
  assert.equal(one.status, 200);
  assert.deepEqual(ids(one.body), [id]);
  assert.deepEqual(Object.keys(one.body[0]), basicMembers);
  assert.deepEqual((await as('anonymous').get('/users', { username: 'nobody-here' })).body, []);
  for (const query of [{}, { search: username }]) {
    const refused = await as('anonymous').get('/users', query);
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body, { message: '403 Forbidden - Not authorized to access /api/v4/users' });
  }
});

test('the list has the newest first, with basic fields for callers who are not administrators', async () => {
  const { as, people } = await world();
  const listed = await as('outsider').get('/users', {
    per_page: 3,
    order_by: 'name',
    sort: 'asc',
    created_before: '2001-01-01',
  });
  assert.equal(listed.status, 200);
  assert.deepEqual(Object.keys(listed.body[0]), basicMembers);
  assert.deepEqual(
    ids(listed.body),
    ids(listed.body).toSorted((a, b) => b - a),
  );
  assert.equal(listed.body[0].id, people.admin.id);

  const full = await as('admin').get('/users', { per_page: 3 });
  assert.equal(full.body[0].email, `${people.admin.username}@example.com`);
  assert.equal(full.body[0].is_admin, true);
});

test('filters apply, and those of administrators are ignored for others', async () => {
  const { as, people, person } = await world();
  const marker = `filtered${++count}`;
  const group = [people.guest, people.planner, people.reporter];
  for (const { id } of group) await as('admin').put(`/users/${id}`, { name: `Person ${marker}` });
  await as('admin').put(`/users/${people.guest.id}`, { external: true });
  await as('admin').post(`/users/${people.planner.id}/block`);
  const [guest, planner, reporter] = group.map(({ id }) => id) as [number, number, number];
  const listed = async (persona: 'admin' | 'outsider', filters: object) =>
    ids((await as(persona).get('/users', { search: marker, sort: 'asc', order_by: 'id', ...filters })).body).toSorted(
      (a, b) => a - b,
    );

  assert.deepEqual(await listed('outsider', {}), [guest, reporter]);
  assert.deepEqual(await listed('admin', {}), [guest, planner, reporter]);
  assert.deepEqual(await listed('outsider', { active: true }), [guest, reporter]);
  assert.deepEqual(await listed('outsider', { active: false }), [guest, reporter]);
  for (const filters of [{ blocked: true }, { exclude_active: true }]) {
    assert.deepEqual(await listed('outsider', filters), []);
    assert.deepEqual(await listed('admin', filters), [planner]);
  }
  const named = await as('outsider').get('/users', { username: people.planner.username });
  assert.deepEqual(ids(named.body), [planner], 'their full name is known');
  assert.deepEqual(await listed('outsider', { external: true }), [guest]);
  assert.deepEqual(await listed('outsider', { exclude_external: true, humans: true }), [reporter]);
  assert.deepEqual(await listed('outsider', { exclude_humans: true }), []);
  assert.deepEqual(await listed('outsider', { admins: true }), [guest, reporter]);
  assert.deepEqual(await listed('admin', { admins: true }), []);
  assert.deepEqual(await listed('admin', { without_projects: true }), []);
  assert.deepEqual(await listed('admin', { created_after: '2001-01-01', created_before: '2001-01-02T00:00:00Z' }), []);
  assert.deepEqual(await listed('admin', { created_after: '2001-01-01' }), [guest, planner, reporter]);
  const lonely = await person();
  assert.deepEqual(ids((await as('admin').get('/users', { username: lonely.username, without_projects: true })).body), [
    lonely.id,
  ]);
});

test('a search finds parts of names and full public addresses, exact matches first; private ones only for administrators', async () => {
  const { as, people } = await world();
  const word = `zebra${++count}`;
  await as('admin').put(`/users/${people.guest.id}`, { name: `The ${word}s` });
  await as('admin').put(`/users/${people.planner.id}`, { name: word });
  await as('admin').put(`/users/${people.reporter.id}`, { username: `x-${word}-x`, name: `A ${word}` });
  const search = async (persona: 'admin' | 'outsider', text: string) =>
    ids((await as(persona).get('/users', { search: text })).body);
  assert.deepEqual(await search('outsider', word.toUpperCase()), [
    people.planner.id,
    people.reporter.id,
    people.guest.id,
  ]);
  assert.deepEqual(await search('outsider', `${word}%`), []);

  const address = `${people.guest.username}@example.com`;
  assert.deepEqual(await search('outsider', address), []);
  assert.deepEqual(await search('admin', address), [people.guest.id]);
  assert.deepEqual(await search('admin', address.slice(0, -1)), []);
  await as('admin').put(`/users/${people.guest.id}`, { public_email: address });
  assert.deepEqual(await search('outsider', address), [people.guest.id]);
});

test('the list is read by keyset in any order, and every user comes once', async () => {
  const { as, people } = await world();
  const search = `keyset${++count}`;
  // The same name for all, so that only IDs distinguish them.
  for (const { id } of Object.values(people)) await as('admin').put(`/users/${id}`, { name: search });
  const all = Object.values(people).map(({ id }) => id);
  for (const order_by of ['id', 'name', 'username', 'created_at', 'updated_at']) {
    for (const sort of ['asc', 'desc']) {
      const seen: number[] = [];
      const first = `/users?pagination=keyset&per_page=3&search=${search}&order_by=${order_by}&sort=${sort}`;
      for await (const page of pagesFrom(as('admin'), first)) {
        assert.equal(page.status, 200, JSON.stringify(page.body));
        assert.equal(page.headers.get('x-total'), null);
        assert.equal(page.headers.get('x-page'), null);
        seen.push(...ids(page.body));
      }
      assert.deepEqual(
        seen.toSorted((a, b) => a - b),
        all,
        `${order_by} ${sort}`,
      );
      const inOrder = ids((await as('admin').get('/users', { search, order_by, sort })).body);
      assert.deepEqual(seen, inOrder, `${order_by} ${sort}`);
    }
  }
});

test('an invalid cursor is refused', async () => {
  const { as } = await world();
  const keyset = { pagination: 'keyset', order_by: 'created_at', per_page: 1 };
  const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { headers } = await as('admin').get('/users', keyset);
  const given = /[?&]cursor=([^&>]+)/.exec(headers.get('link')!)![1]!;
  const [order, part] = JSON.parse(Buffer.from(given, 'base64url').toString());
  assert.equal(
    (await as('admin').get('/users', { ...keyset, cursor: cursor([order, part, '2026-01-01', '1']) })).status,
    200,
  );
  for (const bad of [
    'x',
    cursor(null),
    cursor({ order_by: 'id', value: '1', id: '1' }),
    cursor(['x', part, '2026-01-01', '1']),
    cursor([order, 1, '2026-01-01', '1']),
    cursor([order, part, '2026-01-01']),
    cursor([order, part, '2026-01-01', 1]),
    cursor([order, part, 'yesterday-ish', '1']),
    cursor([order, part, '2026-01-01', 'x']),
    cursor([order, part, 'a\0', '1']),
  ]) {
    const refused = await as('admin').get('/users', { ...keyset, cursor: bad });
    assert.equal(refused.status, 400, bad);
    assert.deepEqual(refused.body, { message: 'cursor is invalid', error: 'cursor is invalid' });
  }
  assert.equal((await as('admin').get('/users', { ...keyset, order_by: 'email' })).status, 400);
});

test('an administrator sets, finds and removes identities, which the user and administrators see', async () => {
  const { as, people, person } = await world();
  const [admin, url, other] = [as('admin'), `/users/${people.guest.id}`, await person()];
  const [provider, extern_uid] = [`ldap-${people.guest.id}`, 'uid=guest,dc=example'];
  const one = { provider, extern_uid, saml_provider_id: null };
  assert.deepEqual((await admin.put(url, { provider, extern_uid: 'former' })).body.identities, [
    { ...one, extern_uid: 'former' },
  ]);
  assert.deepEqual((await admin.put(url, { provider, extern_uid })).body.identities, [one]);
  const added = await admin.post('/users', newcomer({ provider, extern_uid: 'new' }));
  assert.deepEqual([added.status, added.body.identities], [201, [{ ...one, extern_uid: 'new' }]]);

  const taken = await admin.put(`/users/${other.id}`, { provider, extern_uid, bio: 'not written' });
  assert.deepEqual([taken.status, taken.body], [400, { message: { extern_uid: ['has already been taken'] } }]);
  for (const half of [{ provider }, { extern_uid }])
    for (const answer of [await admin.put(url, half), await admin.get('/users', half)]) {
      const text = 'extern_uid, provider provide all or none of parameters';
      assert.deepEqual([answer.status, answer.body.message], [400, text]);
    }
  assert.equal((await admin.put(url, { provider: ' ', extern_uid: 'x' })).status, 400);
  assert.equal((await admin.put(url, { provider, extern_uid: 'x'.repeat(256) })).status, 400);
  assert.deepEqual((await admin.get(`/users/${other.id}`)).body.bio, '');

  assert.deepEqual((await as('guest').get('/user')).body.identities, [one]);
  assert.deepEqual((await admin.get(url)).body.identities, [one]);
  assert.equal('identities' in (await as('owner').get(url)).body, false);
  assert.deepEqual(ids((await admin.get('/users', { provider, extern_uid })).body), [people.guest.id]);
  assert.deepEqual((await admin.get('/users', { provider: 'elsewhere', extern_uid })).body, []);
  for (const persona of ['guest', 'owner'] as const) {
    assert.equal((await as(persona).get('/users', { provider, extern_uid })).status, 403);
    assert.equal((await as(persona).delete(`${url}/identities/${provider}`)).status, 403);
  }
  assert.equal((await admin.delete(`${url}/identities/${provider}`)).status, 204);
  const gone = await admin.delete(`${url}/identities/${provider}`);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Identity Not Found' }]);
  assert.equal((await admin.delete(`/users/99999999/identities/${provider}`)).body.message, '404 User Not Found');
  assert.deepEqual((await as('guest').get('/user')).body.identities, []);
});

test('sign-ins with a password are counted, with the times and addresses of the last two', async () => {
  const here = await world();
  const { as } = here;
  const wish = newcomer({ skip_confirmation: true });
  const { id } = (await as('admin').post('/users', wish)).body;
  const shown = async () => (await as('admin').get(`/users/${id}`)).body;
  const before = await shown();
  assert.deepEqual(
    [before.sign_in_count, before.current_sign_in_at, before.last_sign_in_at, before.current_sign_in_ip],
    [0, null, null, null],
  );
  const signIn = (password: string) =>
    fetch(`${here.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: wish.username, password }),
    });
  assert.equal((await signIn('wrong')).status, 400);
  assert.equal((await shown()).sign_in_count, 0);
  assert.equal((await signIn(wish.password)).status, 200);
  const first = await shown();
  assert.deepEqual(
    [first.sign_in_count, first.last_sign_in_at, first.current_sign_in_ip],
    [1, first.current_sign_in_at, '127.0.0.1'],
  );
  assert.equal((await signIn(wish.password)).status, 200);
  const second = await shown();
  assert.deepEqual(
    [second.sign_in_count, second.last_sign_in_at, second.last_sign_in_ip],
    [2, first.current_sign_in_at, '127.0.0.1'],
  );
  assert.ok(second.current_sign_in_at > second.last_sign_in_at);
});
