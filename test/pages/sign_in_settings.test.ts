/** The settings of who signs in, with what, and for how long (docs/reference/application_settings.md#signing-in). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { deactivateDormantUsers } from '../../src/areas/people/users/index.ts';
import { anonymousBrowser, browserOf, password } from '../support/browser.ts';
import { gitClient, remoteOf } from '../support/git.ts';
import { performJob } from '../support/jobs.ts';
import { type World, world } from '../support/world.ts';

const defaults = {
  password_authentication_enabled_for_web: true,
  password_authentication_enabled_for_git: true,
  require_two_factor_authentication: false,
  session_expire_delay: 720,
  session_expire_from_init: false,
  disable_personal_access_tokens: false,
  deactivate_dormant_users: false,
};

/** Changes settings until the end of a test: the files of a process share a server. */
async function set(t: TestContext, { as, db }: World, settings: Partial<typeof defaults>): Promise<void> {
  t.after(() => db.updateTable('application_settings').set(defaults).execute());
  assert.equal((await as('admin').put('/application/settings', settings)).status, 200);
}

const signIn = (here: World, login: string, address = '/users/sign_in') =>
  anonymousBrowser(here.url).send(address, 'sign_in', { login, password });

test('where passwords do not sign in on pages, those of administrators still do', async (t) => {
  const here = await world({});
  const { developer, admin } = here.people;
  for (const person of [developer, admin]) await browserOf(here, person);
  await set(t, here, { password_authentication_enabled_for_web: false });
  const shown = (path: string) => anonymousBrowser(here.url).get(path);
  assert.doesNotMatch((await shown('/users/sign_in')).html, /autocomplete="current-password"/);
  assert.match((await shown('/users/sign_in?administrator=1')).html, /autocomplete="current-password"/);
  const refused = await signIn(here, developer.username, '/users/sign_in?administrator=1');
  assert.equal(refused.status, 401);
  assert.match(refused.html, /The name or the password is wrong\./);
  assert.equal((await signIn(here, admin.username, '/users/sign_in?administrator=1')).status, 303);
});

test('git takes the password of somebody without a second factor, while that is on', async (t) => {
  const here = await world({});
  const { developer } = here.people;
  await browserOf(here, developer);
  const client = await gitClient();
  const remote = new URL(remoteOf(here.url, here.project.full_path));
  const clones = async (secret: string) => {
    Object.assign(remote, { username: developer.username, password: secret });
    const { code, stderr } = await client.run(['ls-remote', remote.href], { at: '.' });
    return code === 0 ? 'reads' : /Authentication failed/.test(stderr) ? 'refused' : stderr;
  };
  for (let count = 0; count < 12; count++) assert.equal(await clones(password), 'reads', 'right ones are not counted');
  assert.equal(await clones('wrong'), 'refused');
  await set(t, here, { password_authentication_enabled_for_git: false });
  assert.equal(await clones(password), 'refused');
  const token = () =>
    fetch(`${here.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: developer.username, password }),
    }).then(({ status }) => status);
  assert.equal(await token(), 400);
  await set(t, here, { password_authentication_enabled_for_git: true });
  assert.equal(await token(), 200);
  await set(t, here, { require_two_factor_authentication: true });
  assert.deepEqual(
    [await clones(password), await token()],
    ['refused', 400],
    'whoever must have a factor needs a token',
  );
});

test('large files are fetched with the password of git', async () => {
  const here = await world({});
  const { developer } = here.people;
  await browserOf(here, developer);
  const batch = await fetch(`${here.url}/${here.project.full_path}.git/info/lfs/objects/batch`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${developer.username}:${password}`).toString('base64')}`,
      'content-type': 'application/vnd.git-lfs+json',
    },
    body: JSON.stringify({ operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 3 }] }),
  });
  const { objects } = (await batch.json()) as { objects: { actions: { upload: { header: object } } }[] };
  assert.equal(batch.status, 200);
  assert.ok(!('Authorization' in objects[0]!.actions.upload.header));
});

test('a session ends after the time without use that is set, or after that from its start', async (t) => {
  const here = await world({});
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const is = async () => (await browser.get('/-/user_settings/active_sessions')).status === 200;
  const age = (column: 'used_at' | 'created_at', minutes: number) =>
    sql`update web_sessions set ${sql.ref(column)} = now() - make_interval(mins => ${minutes}), confirmed_at = now()
         where user_id = ${developer.id}`.execute(here.db);
  await age('used_at', 700);
  assert.ok(await is());
  await set(t, here, { session_expire_delay: 60 });
  await age('created_at', 70);
  await age('used_at', 50);
  assert.ok(await is());
  await set(t, here, { session_expire_from_init: true });
  assert.ok(!(await is()));
  await set(t, here, { session_expire_from_init: false });
  await age('used_at', 61);
  assert.ok(!(await is()));
});

test('tokens of people are refused and cannot be made while they are switched off', async (t) => {
  const here = await world({});
  const service = await here.as('admin').post('/service_accounts');
  const made = await here.as('admin').post(`/users/${service.body.id}/personal_access_tokens`, {
    name: 'robot',
    scopes: ['api'],
  });
  const browser = await browserOf(here, here.people.developer);
  const statusOf = (token: string) =>
    fetch(`${here.url}/api/v4/user`, { headers: { 'private-token': token } }).then(({ status }) => status);
  await set(t, here, { disable_personal_access_tokens: true });
  assert.equal(await statusOf(here.people.developer.token), 401);
  assert.equal(await statusOf(here.people.admin.token), 401);
  assert.equal(await statusOf(made.body.token), 200);
  const refused = await browser.send('/-/user_settings/personal_access_tokens', 'create', {
    name: 'mine',
    'scopes[]': ['api'],
  });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /are disabled/);
});

test('accounts without activity are deactivated at night, if that is set', async (t) => {
  const here = await world({});
  const { developer, admin, guest } = here.people;
  const stateOf = async ({ id }: { id: number }) =>
    (await here.db.selectFrom('users').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state;
  await sql`update users set last_activity_on = current_date - 100 where id in (${developer.id}, ${admin.id})`.execute(
    here.db,
  );
  await sql`update users set last_activity_on = current_date - 80 where id = ${guest.id}`.execute(here.db);
  await performJob(here.services, deactivateDormantUsers);
  assert.equal(await stateOf(developer), 'active');
  await set(t, here, { deactivate_dormant_users: true });
  await performJob(here.services, deactivateDormantUsers);
  assert.deepEqual(
    [await stateOf(developer), await stateOf(admin), await stateOf(guest)],
    ['deactivated', 'active', 'active'],
  );
});
