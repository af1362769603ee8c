/** Administration in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { anonymousBrowser, type Browser, browserOf } from '../support/browser.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { world } from '../support/world.ts';

async function filledIn(browser: Browser, path: string, id: string, changes: Record<string, string> = {}) {
  const form = formsIn((await browser.get(path)).html).find((each) => each.id === id)!;
  return browser.send(form.action, form.does[0]!, { ...sentBy(form), ...changes });
}

test('administrators see the whole server, and nobody else does', async () => {
  const here = await world({});
  const admin = await browserOf(here, here.people.admin);
  const { html } = await admin.get('/admin');
  assert.match(html, /<h2>Health<\/h2>/);
  for (const [, path] of html.matchAll(/href="(\/admin[^"]*|\/import[^"]*)"/g))
    assert.equal((await admin.get(path!)).status < 400, true, path);
  const owner = await browserOf(here, here.people.owner);
  assert.doesNotMatch((await owner.get('/')).html, /href="\/admin"/);
  for (const path of [
    '/admin',
    '/admin/users',
    `/admin/users/${here.people.guest.id}`,
    '/admin/application_settings/general',
  ])
    assert.equal((await owner.get(path)).status, 403, path);
  assert.match((await anonymousBrowser(here.url).get('/admin')).to!, /^\/users\/sign_in/);
});

test('a user is blocked, gets a link to sign in, and is deleted by typing the name', async () => {
  const here = await world({});
  const { as, people } = here;
  const admin = await browserOf(here, people.admin);
  const { id, username } = people.outsider;
  const found = await admin.get(`/admin/users?search=${username}`);
  assert.match(found.html, new RegExp(`href="/admin/users/${id}"`));
  await filledIn(admin, `/admin/users?search=${username}`, `block_user-${id}`);
  assert.equal((await as('admin').get(`/users/${id}`)).body.state, 'blocked');
  const path = `/admin/users/${id}`;
  await filledIn(admin, path, 'unblock');
  assert.equal((await as('admin').get(`/users/${id}`)).body.state, 'active');
  await filledIn(admin, path, 'account', { note: 'Pays for the ladder' });
  assert.equal((await as('admin').get(`/users/${id}`)).body.note, 'Pays for the ladder');

  const made = await filledIn(admin, path, 'link');
  const link = /<code>(http[^<]+)<\/code>/.exec(made.html)![1]!;
  const { pathname, search } = new URL(link.replaceAll('&amp;', '&'));
  const visitor = anonymousBrowser(here.url);
  const form = formsIn((await visitor.get(pathname + search)).html).find((each) => each.id === 'choose')!;
  const chosen = { ...sentBy(form), password: 'a word of their own', password_confirmation: 'a word of their own' };
  assert.equal((await visitor.send(form.action, 'choose', chosen)).status, 303);

  assert.equal((await filledIn(admin, path, 'delete', { typed: 'someone' })).status, 400);
  assert.equal((await filledIn(admin, path, 'delete', { typed: username })).to, '/admin/users');
});

test('settings are changed in sections, each of which sends only its own', async () => {
  const here = await world({});
  const { as, people } = here;
  const admin = await browserOf(here, people.admin);
  const path = '/admin/application_settings/general';
  const before = (await as('admin').get('/application/settings')).body;
  await filledIn(admin, path, 'new_users', { default_projects_limit: '7' });
  await filledIn(admin, path, 'sign_up', { domain_allowlist: 'example.org, *.example.com' });
  const after = (await as('admin').get('/application/settings')).body;
  assert.deepEqual([after.default_projects_limit, after.domain_allowlist], [7, ['example.org', '*.example.com']]);
  const others = { ...before, ...{ default_projects_limit: 7, domain_allowlist: after.domain_allowlist } };
  assert.deepEqual({ ...after, updated_at: others.updated_at }, others);
  const wrong = await filledIn(admin, path, 'new_users', { default_projects_limit: '-1' });
  assert.equal(wrong.status, 400);
});

test('a job that has failed shows its reason, and is tried again or dropped', async () => {
  const here = await world({});
  const admin = await browserOf(here, here.people.admin);
  const path = '/admin/background_jobs';
  const failed = async () => {
    const { rows } = await sql<{ id: number }>`
      select id from graphile_worker.add_job('write_invitation', json_build_object('invitation_id', 0), run_at := now() + interval '1 day')`.execute(
      here.db,
    );
    await sql`
      update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'The ladder is too short' where id = ${rows[0]!.id}`.execute(
      here.db,
    );
    return rows[0]!.id;
  };
  const [first, second] = [await failed(), await failed()];
  assert.match((await admin.get(path)).html, /The ladder is too short/);
  assert.match((await admin.get('/admin')).html, /2 jobs have failed for good/);
  await filledIn(admin, path, `retry_failed-${first}`);
  await filledIn(admin, path, `drop_failed-${second}`);
  const { rows } = await sql<{ id: string; attempts: number }>`
    select id, attempts from graphile_worker._private_jobs where id = any(${[first, second]}::bigint[])`.execute(
    here.db,
  );
  assert.deepEqual(
    rows.map(({ attempts }) => attempts),
    [0],
  );
});

test('people sign up, and an administrator lets them in', async () => {
  const here = await world({});
  const { as, people } = here;
  const visitor = anonymousBrowser(here.url);
  assert.match((await visitor.get('/users/sign_in')).html, /href="\/users\/sign_up"/);
  const account = {
    name: 'Pip',
    username: 'pip-who-signs-up',
    email: 'pip@example.org',
    password: 'a word that Pip knows',
  };
  const weak = await filledIn(visitor, '/users/sign_up', 'sign_up', { ...account, password: 'short', username: 'a b' });
  assert.equal(weak.status, 400);
  const fields = formsIn(weak.html).find(({ id }) => id === 'sign_up')!.fields;
  assert.deepEqual(
    fields.filter(({ reason }) => reason !== undefined).map(({ name }) => name),
    ['username', 'password'],
  );
  const done = await filledIn(visitor, '/users/sign_up', 'sign_up', account);
  assert.match((await visitor.get(done.to!)).html, /Then an administrator approves the account/);
  const [user] = (await as('admin').get(`/users?username=${account.username}`)).body;
  assert.deepEqual([user.state, user.confirmed_at], ['blocked_pending_approval', null]);
  const signIn = () =>
    visitor.send('/users/sign_in', 'sign_in', { login: account.username, password: account.password });
  assert.equal((await signIn()).status, 403);
  // Nobody learns who has an account.
  const again = await filledIn(anonymousBrowser(here.url), '/users/sign_up', 'sign_up', {
    ...account,
    username: 'other-pip',
  });
  assert.equal(again.to, done.to);
  assert.deepEqual((await as('admin').get('/users?username=other-pip')).body, []);

  const admin = await browserOf(here, people.admin);
  await filledIn(admin, '/admin/users?search=pip-who', `approve_user-${user.id}`);
  assert.equal((await signIn()).status, 303);

  await as('admin').put('/application/settings', { signup_enabled: false });
  const stranger = anonymousBrowser(here.url);
  assert.equal((await stranger.get('/users/sign_up')).status, 302);
  assert.doesNotMatch((await stranger.get('/users/sign_in')).html, /sign_up/);
});
