import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { clientOf, pagesFrom } from '../../../../test/support/client.ts';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { linkIn, mailOf } from '../../../../test/support/mail.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { confirm } from '../../people/emails/confirmation_actions.ts';
import { confirmNewPrimary, removeUnconfirmedEmails } from '../../people/emails/index.ts';
import { acceptInvitations } from '../invitations/jobs.ts';

const message = (text: string) => ({ message: `400 Bad request - ${text}` });
const ids = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

/** Changes settings until the test ends. */
async function set({ db }: World, t: { after(end: () => Promise<unknown>): void }, settings: object): Promise<void> {
  await db.updateTable('application_settings').set(settings).execute();
  t.after(async () => {
    await db.deleteFrom('application_settings').execute();
    await db.insertInto('application_settings').defaultValues().execute();
  });
}

/** Activates a Premium license until the test ends. */
async function license(
  { db }: World,
  t: { after(end: () => Promise<unknown>): void },
  user_limit: number,
): Promise<void> {
  const { id } = await db
    .insertInto('licenses')
    .values({ text: `premium for ${user_limit}`, plan: 'premium', licensee: '{}', starts_at: '2020-01-01', user_limit })
    .returning('id')
    .executeTakeFirstOrThrow();
  t.after(() => db.deleteFrom('licenses').where('id', '=', id).execute());
}

test('a service account gets a default name and address, and all values can be chosen', async () => {
  const { as } = await world({});
  const made = await as('admin').post('/service_accounts');
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, ...usual } = made.body;
  assert.match(usual.username, /^service_account_[0-9a-f]{32}$/);
  assert.deepEqual(usual, {
    username: usual.username,
    name: 'Service account user',
    email: `${usual.username}@noreply.coppice.test`,
    public_email: null,
  });
  const chosen = { name: 'Nightly build', username: `nightly-${id}`, email: `Nightly-${id}@example.com` };
  const second = await as('admin').post('/service_accounts', chosen);
  assert.deepEqual(second.body, {
    id: second.body.id,
    ...chosen,
    email: `nightly-${id}@example.com`,
    public_email: null,
  });
  const named = await as('admin').post('/service_accounts', { username: `named-${id}` });
  assert.equal(named.body.email, `named-${id}@noreply.coppice.test`);
});

test('a service account is shown as a bot, external, without a seat or namespace', async () => {
  const { as, db } = await world({});
  const { id, username } = (await as('admin').post('/service_accounts')).body;
  const shown = (await as('admin').get(`/users/${id}`)).body;
  assert.deepEqual(
    [
      shown.bot,
      shown.external,
      shown.can_create_group,
      shown.can_create_project,
      shown.namespace_id,
      shown.using_license_seat,
    ],
    [true, true, false, false, null, false],
  );
  assert.notEqual(shown.confirmed_at, null);
  assert.equal(shown.state, 'active');
  assert.equal((await as('guest').get(`/users/${id}`)).body.bot, true);
  const listed = async (filter: object) => ids(await as('admin').get('/users', { username, ...filter })).includes(id);
  assert.deepEqual(
    await Promise.all(
      [{}, { without_project_bots: true }, { exclude_internal: true }, { active: true }, { external: true }].map(
        listed,
      ),
    ),
    [true, true, true, true, true],
  );
  assert.deepEqual(
    await Promise.all([{ humans: true }, { exclude_external: true }, { exclude_active: true }].map(listed)),
    [false, false, false],
  );
  assert.equal(await listed({ exclude_humans: true }), true);
  const secret = await db.selectFrom('users').select('password_digest').where('id', '=', id).executeTakeFirstOrThrow();
  assert.equal(secret.password_digest, null);
});

test('a service account cannot get a password or create groups', async () => {
  const { as } = await world({});
  const { id } = (await as('admin').post('/service_accounts')).body;
  const before = (await as('admin').get(`/users/${id}`)).body;
  for (const [change, field] of [
    [{ password: 'a long enough secret' }, 'password'],
    [{ can_create_group: true }, 'can_create_group'],
  ] as const) {
    const refused = await as('admin').put(`/users/${id}`, change);
    assert.deepEqual(
      [refused.status, refused.body],
      [400, { message: { [field]: ['cannot be given to a service account'] } }],
    );
  }
  assert.deepEqual((await as('admin').get(`/users/${id}`)).body, before);
  assert.equal((await as('admin').put(`/users/${id}`, { bio: 'Builds by night' })).body.bio, 'Builds by night');
});

test('taken and invalid values are refused together', async () => {
  const { as, people, group, db } = await world({});
  const secondary = `second-${people.guest.id}@example.com`;
  await as('admin').post(`/users/${people.guest.id}/emails`, { email: secondary, skip_confirmation: true });
  const [username, email] = [people.guest.username, `${people.guest.username}@example.com`];
  const before = await db.selectFrom('users').select('id').execute();
  const unfit =
    "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";
  const refusals: [object, string][] = [
    [{ email: email.toUpperCase() }, 'Email has already been taken'],
    [{ email: secondary }, 'Email has already been taken'],
    [{ username: username.toUpperCase() }, 'Username has already been taken'],
    [{ username: group.path }, 'Username has already been taken'],
    [{ email, username }, 'Email has already been taken and Username has already been taken'],
    [{ email: 'nowhere' }, 'Email is invalid'],
    [{ email: '' }, "Email can't be blank"],
    [{ username: 'groups' }, 'Username groups is a reserved name'],
    [{ username: '' }, "Username can't be blank"],
    [{ username: 'a b', name: '' }, `Username ${unfit} and Name can't be blank`],
    [{ name: ' ' }, "Name can't be blank"],
    [{ name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters)'],
  ];
  for (const [wish, text] of refusals) {
    const refused = await as('admin').post('/service_accounts', { ...wish });
    assert.deepEqual([refused.status, refused.body], [400, message(text)]);
  }
  const strange = await as('admin').post('/service_accounts', { username: '-a' });
  assert.match(strange.body.message, /^400 Bad request - Username can contain only letters, digits/);
  assert.deepEqual(await db.selectFrom('users').select('id').execute(), before);
  // Usernames of service accounts are not available to groups either.
  const taken = (await as('admin').post('/service_accounts')).body.username;
  assert.equal((await as('owner').post('/groups', { name: taken, path: taken })).status, 400);
});

test('service accounts, including those of groups, are listed by ID or username, in pages and by keyset', async () => {
  const { as, group } = await world({});
  const made: number[] = [];
  for (const name of ['b', 'c', 'a'])
    made.push((await as('admin').post('/service_accounts', { username: `list-${group.id}-${name}` })).body.id);
  const ofGroup = (await as('admin').post(`/groups/${group.id}/service_accounts`, { username: `list-${group.id}-d` }))
    .body.id;
  const [b, c, a, d] = [...made, ofGroup] as [number, number, number, number];
  assert.deepEqual(ids(await as('admin').get('/service_accounts', { per_page: 4 })), [d, a, c, b]);
  const mine = async (query: object) =>
    ids(await as('admin').get('/service_accounts', { per_page: 100, ...query })).filter((id) =>
      [a, b, c, d].includes(id),
    );
  assert.deepEqual(await mine({ sort: 'asc' }), [b, c, a, d]);
  assert.deepEqual(await mine({ order_by: 'username', sort: 'asc' }), [a, b, c, d]);
  assert.deepEqual(await mine({ order_by: 'username' }), [d, c, b, a]);

  const walked: number[] = [];
  const first = '/service_accounts?pagination=keyset&per_page=2&order_by=username&sort=asc';
  for await (const page of pagesFrom(as('admin'), first)) {
    assert.equal(page.headers.get('x-total'), null);
    walked.push(...ids(page));
  }
  assert.deepEqual(
    walked.filter((id) => [a, b, c, d].includes(id)),
    [a, b, c, d],
  );
  for (const parameter of ['order_by', 'sort']) {
    const refused = await as('admin').get('/service_accounts', { [parameter]: 'name' });
    const text = `${parameter} does not have a valid value`;
    assert.deepEqual([refused.status, refused.body], [400, { message: text, error: text }]);
  }
});

test('an update keeps values that are left out or blank, and is refused for other users', async () => {
  const { as, people } = await world({});
  const { id, ...made } = (await as('admin').post('/service_accounts')).body;
  const path = `/service_accounts/${id}`;
  const renamed = await as('admin').patch(path, { name: 'Robot', username: '', email: null });
  assert.deepEqual([renamed.status, renamed.body], [200, { id, ...made, name: 'Robot' }]);
  assert.deepEqual((await as('admin').patch(path)).body, renamed.body);
  const moved = await as('admin').patch(path, { username: `robot-${id}`, email: `robot-${id}@example.com` });
  assert.deepEqual(moved.body, { ...renamed.body, username: `robot-${id}`, email: `robot-${id}@example.com` });
  const taken = await as('admin').patch(path, { username: people.guest.username });
  assert.deepEqual([taken.status, taken.body], [400, message('Username has already been taken')]);
  assert.equal((await as('admin').patch(path, { username: `robot-${id}` })).status, 200);

  const human = await as('admin').patch(`/service_accounts/${people.guest.id}`, { name: 'Robot' });
  assert.deepEqual([human.status, human.body], [400, message('User is not a service account')]);
  const nobody = await as('admin').patch('/service_accounts/99999999', { name: 'Robot' });
  assert.deepEqual([nobody.status, nobody.body], [404, { message: '404 Not found' }]);
  assert.equal((await as('admin').patch('/service_accounts/x', { name: 'Robot' })).body.error, 'user_id is invalid');
});

test('a chosen address waits for its confirmation if the setting requires one, and the account works meanwhile', async (t) => {
  const here = await world({});
  const { as, db, services, url } = here;
  await set(here, t, { email_confirmation_setting: 'hard' });
  const email = `robot-${here.group.id}@example.com`;
  const made = (await as('admin').post('/service_accounts', { username: `robot-${here.group.id}`, email })).body;
  assert.equal(made.email, `robot-${here.group.id}@noreply.coppice.test`);
  assert.equal(made.unconfirmed_email, email);
  const { token } = (await as('admin').post(`/users/${made.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }))
    .body;
  assert.equal((await fetch(`${url}/api/v4/user`, { headers: { 'private-token': token } })).status, 200);

  const [mail, ...others] = await mailOf(services, [confirmNewPrimary]);
  assert.deepEqual([mail?.to.address, others], [email, []]);
  const link = linkIn(mail!);
  const page = await fetch(`${url}${link.pathname}${link.search}`);
  const form = /<form[^>]*action="([^"]*)"/.exec(await page.text())?.[1];
  if (form) await fetch(new URL(form.replaceAll('&amp;', '&'), `${url}${link.pathname}`), { method: 'POST' });
  const shown = (await as('admin').get('/service_accounts', { per_page: 1 })).body[0];
  assert.deepEqual([shown.id, shown.email, shown.unconfirmed_email], [made.id, email, undefined]);

  const again = await as('admin').patch(`/service_accounts/${made.id}`, { email: `other-${email}` });
  assert.deepEqual([again.body.email, again.body.unconfirmed_email], [email, `other-${email}`]);
  const claimed = await as('admin').post('/service_accounts', { email });
  assert.deepEqual(claimed.body, message('Email has already been taken'));
  await db.deleteFrom('users').where('id', '=', made.id).execute();
});

test('an address that nobody has confirmed does not stand for its owner, who can add it when the claim has ended', async () => {
  const here = await world({});
  const { as, db, group, project, services, url } = here;
  const members = `/groups/${group.id}/members`;
  const email = `gardener-${group.id}@example.com`;
  const account = (await as('admin').post('/service_accounts', { username: `claimant-${group.id}`, email })).body;
  assert.equal(account.email, email, 'without confirmation the address counts at once');
  const second = await as('admin').post('/service_accounts', { email });
  assert.deepEqual([second.status, second.body], [400, message('Email has already been taken')]);

  // Neither invitations nor commits take it for the address of the account.
  assert.deepEqual((await as('owner').post(`/groups/${group.id}/invitations`, { email, access_level: 30 })).body, {
    status: 'success',
  });
  assert.equal((await as('owner').get(`/groups/${group.id}/invitations`)).body.length, 1);
  assert.equal((await as('owner').get(`${members}/${account.id}`)).status, 404);
  await as('owner').post(members, { user_id: account.id, access_level: 40 });
  const tokens = `/users/${account.id}/personal_access_tokens`;
  const { token } = (await as('admin').post(tokens, { name: 'x', scopes: ['api'] })).body;
  const commit = await clientOf(`${url}/api/v4`, token).post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Prune',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
  });
  assert.equal(commit.body.author_email, `${account.id}-${account.username}@users.noreply.coppice.test`);

  // The claim ends: the account falls back to its own address. The owner confirms the other, and the invitation is theirs.
  const owner = await here.person();
  assert.equal((await owner.client.post('/user/emails', { email })).status, 400);
  await performJob(services, removeUnconfirmedEmails);
  assert.equal((await as('admin').get(`/users/${account.id}`)).body.email, email, 'three days have not passed');
  await sql`update emails set confirmation_sent_at = now() - interval '3 days 1 second' where email = ${email}`.execute(
    db,
  );
  await performJob(services, removeUnconfirmedEmails);
  assert.equal((await as('admin').get(`/users/${account.id}`)).body.email, `${account.username}@noreply.coppice.test`);
  assert.equal((await owner.client.post('/user/emails', { email })).status, 201);
  const { seed } = await db
    .selectFrom('emails')
    .select('seed')
    .where('user_id', '=', owner.id)
    .where('is_primary', '=', false)
    .executeTakeFirstOrThrow();
  assert.equal((await confirm(db, seed)).result, 'confirmed');
  await performQueued(services, [acceptInvitations]);
  assert.equal((await as('owner').get(`${members}/${owner.id}`)).body.access_level, 30);
  const taken = await as('admin').patch(`/service_accounts/${account.id}`, { email });
  assert.deepEqual([taken.status, taken.body], [400, message('Email has already been taken')]);
  const found = (await as('admin').get('/users', { search: email })).body;
  assert.deepEqual(ids({ body: found }), [owner.id]);
});

test('only administrators manage service accounts of the instance', async () => {
  const { as } = await world({});
  const { id } = (await as('admin').post('/service_accounts')).body;
  const refused = await as('owner').post('/service_accounts');
  assert.deepEqual(
    [refused.status, refused.body],
    [403, { message: '403 Forbidden - User does not have permission to create a service account.' }],
  );
  assert.equal((await as('owner').get('/service_accounts')).status, 403);
  assert.equal((await as('owner').patch(`/service_accounts/${id}`, { name: 'Mine' })).status, 403);
  assert.equal((await as('anonymous').post('/service_accounts')).status, 401);
});

test('Premium has as many service accounts as the license has seats, Ultimate any number', async (t) => {
  const here = await world({});
  const { as, group, db } = here;
  const count = async () =>
    (await db.selectFrom('users').select('id').where('user_type', '=', 'service_account').execute()).length;
  await as('admin').post('/service_accounts');
  await license(here, t, (await count()) + 1);
  assert.equal((await as('admin').post('/service_accounts')).status, 201);
  const before = await count();
  const refused = await as('admin').post('/service_accounts');
  assert.deepEqual(
    [refused.status, refused.body],
    [403, { message: '403 Forbidden - No more seats are available to create Service Account User' }],
  );
  const ofGroup = await as('admin').post(`/groups/${group.id}/service_accounts`);
  assert.deepEqual(
    [ofGroup.status, ofGroup.body],
    [400, message('No more seats are available to create Service Account User')],
  );
  assert.equal(await count(), before);
  await license(here, t, 0);
  assert.equal((await as('admin').post('/service_accounts')).status, 201);
});
