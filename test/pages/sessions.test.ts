/** Signing in and out with a browser (docs/reference/sessions.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sendPasswordLink } from '../../src/areas/people/sessions/index.ts';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { linkIn, mailOf } from '../support/mail.ts';
import { newPublicKey } from '../support/public_key.ts';
import { upload } from '../support/uploads.ts';
import { type World, world } from '../support/world.ts';

const sessionsPath = '/-/user_settings/active_sessions';
const password = 'a word that only tests pass';

/** On a server behind a proxy, which says from which address a browser comes. */
const place = () => world({ environment: { COPPICE_TRUSTED_PROXIES: '127.0.0.1' } });
const at = (address: string) => ({ 'x-forwarded-for': address });

/** The names in cookies that a reply sets, with their attributes. */
const cookieOf = (headers: Headers) => headers.getSetCookie()[0] ?? '';

test('a session begins with the right password, and ends when it is ended', async () => {
  const here = await place();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const { status, html, headers } = await browser.get(sessionsPath);
  assert.equal(status, 200);
  assert.match(html, /this browser/);
  assert.equal(headers.get('cache-control'), 'private, no-cache');
  assert.equal(headers.get('access-control-allow-origin'), null);
  const stranger = anonymousBrowser(here.url);
  const wrong = await stranger.send('/users/sign_in', 'sign_in', { login: developer.username, password: 'wrong' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.html, /The name or the password is wrong/);
  assert.ok(wrong.html.includes(`value="${developer.username}"`), 'what was typed stays');
  assert.equal((await stranger.get(sessionsPath)).to, `/users/sign_in?to=${encodeURIComponent(sessionsPath)}`);
  const out = await browser.send('/users/sign_out', 'sign_out');
  assert.deepEqual(
    [out.status, out.to, out.headers.get('clear-site-data')],
    [303, '/users/sign_in', '"cache", "storage"'],
  );
  assert.match(cookieOf(out.headers), /^coppice=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/);
  assert.equal((await browser.get(sessionsPath)).status, 302);
});

test('a session ends at once with the password, and when its user is blocked or someone else ends it', async () => {
  const here = await place();
  const { developer, planner } = here.people;
  const [first, second] = [await browserOf(here, developer), await browserOf(here, planner)];
  assert.equal((await first.get(sessionsPath)).status, 200);
  await here.as('admin').put(`/users/${developer.id}`, { password: 'another word that tests know' });
  assert.equal((await first.get(sessionsPath)).status, 302);
  assert.equal((await second.get(sessionsPath)).status, 200);
  await here.as('admin').post(`/users/${planner.id}/block`);
  assert.equal((await second.get(sessionsPath)).status, 302);
  await here.as('admin').post(`/users/${planner.id}/unblock`);
});

test('a session ends without use, and at the latest after 90 days', async () => {
  const here = await place();
  const browser = await browserOf(here, here.people.developer);
  const aged = (change: string) =>
    sql`update web_sessions set ${sql.raw(change)} where user_id = ${here.people.developer.id}`.execute(here.db);
  await aged(`rotated_at = now() - interval '25 hours'`);
  await sql`update users set name = name || '' where id = ${here.people.developer.id}`.execute(here.db);
  const renewed = await browser.get(sessionsPath);
  assert.equal(renewed.status, 200);
  assert.match(cookieOf(renewed.headers), /^coppice=[\w-]{32};/, 'the cookie of yesterday is replaced');
  assert.equal((await browser.get(sessionsPath)).status, 200);
  await aged(`used_at = now() - interval '13 hours'`);
  await sql`update users set name = name || '' where id = ${here.people.developer.id}`.execute(here.db);
  assert.equal((await browser.get(sessionsPath)).status, 302);
});

test('neither the API nor git takes the cookie, and files that pages show do', async () => {
  const here = await place();
  const browser = await browserOf(here, here.people.developer);
  assert.equal((await browser.get('/api/v4/user')).status, 401);
  assert.equal((await browser.get(`/${here.project.full_path}.git/info/refs?service=git-upload-pack`)).status, 401);
  const { body } = await upload(here, 'developer', `/projects/${here.project.id}`, 'note.txt');
  assert.equal((await browser.get(body.full_path)).status, 200);
  assert.equal((await anonymousBrowser(here.url).get(body.full_path)).status, 404);
});

/** A form sent with other headers than a browser's own. */
const sendWith = ({ url }: World, headers: Record<string, string>) =>
  fetch(`${url}/users/sign_in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', ...headers },
    body: new URLSearchParams({ _do: 'sign_in', login: 'x', password: 'y' }),
  }).then(({ status }) => status);

test('a form is taken only from a page of this server', async () => {
  const here = await place();
  for (const site of ['cross-site', 'same-site', 'none', ''])
    assert.equal(await sendWith(here, { 'sec-fetch-site': site }), 403, site);
  assert.equal(await sendWith(here, {}), 403);
  assert.equal(await sendWith(here, { origin: 'null' }), 403);
  assert.equal(await sendWith(here, { origin: 'https://example.com' }), 403);
  assert.equal(await sendWith(here, { origin: here.url }), 401);
  assert.equal(await sendWith(here, { 'sec-fetch-site': 'same-origin' }), 401);
});

test('signing in leads to pages of this server only', async () => {
  const here = await place();
  const { developer } = here.people;
  await browserOf(here, developer);
  const leadsTo = async (to: string) =>
    (await anonymousBrowser(here.url).send('/users/sign_in', 'sign_in', { login: developer.username, password, to }))
      .to;
  assert.equal(await leadsTo('/a/b?c=d'), '/a/b?c=d');
  assert.equal(await leadsTo('/日本/x?語=é'), '/%E6%97%A5%E6%9C%AC/x?%E8%AA%9E=%C3%A9');
  for (const to of ['//example.com', 'https://example.com', '/\\example.com', 'javascript:alert(1)', '/a b', ''])
    assert.equal(await leadsTo(to), '/', to);
});

test('what was typed while a session ended is there again after the sign-in', async () => {
  const here = await place();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  await sql`delete from web_sessions where user_id = ${developer.id}`.execute(here.db);
  const typed = { current_password: 'x', password: 'y', password_confirmation: 'z', note: '"><b>' };
  const asked = await browser.send('/-/user_settings/password/edit', 'change', typed);
  assert.equal(asked.status, 401);
  const kept = /name="kept" value="([^"]*)"/
    .exec(asked.html)![1]!
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<');
  assert.equal(JSON.parse(kept).values.note, typed.note);
  const again = await browser.send('/users/sign_in', 'sign_in', {
    login: developer.username,
    password,
    kept,
    to: '/-/user_settings/password/edit',
  });
  assert.equal(again.status, 200);
  assert.match(again.html, /You are signed in again/);
  assert.equal((await browser.get(sessionsPath)).status, 200);
});

test('a form is filled in only with what was typed in the same browser', async () => {
  const here = await place();
  const { developer, planner } = here.people;
  await browserOf(here, developer);
  const keys = '/-/user_settings/ssh_keys';
  const stranger = await browserOf(here, planner);
  await unconfirm(here, planner);
  const { html } = await stranger.send(keys, 'add', { title: 'Theirs', key: newPublicKey() });
  const { kept, to } = sentBy(formsIn(html).find(({ id }) => id === 'confirm')!);
  const invented = JSON.stringify({ form: 'add', values: { title: 'Theirs' } });
  for (const brought of [kept![0]!, invented, 'x', '{}', 'null']) {
    const browser = anonymousBrowser(here.url);
    const query = new URLSearchParams({ to: to![0]!, kept: brought });
    const asked = await browser.get(`/users/sign_in?${query}`);
    assert.doesNotMatch(asked.html, /what you typed is kept/);
    const fields = { login: developer.username, password, kept: brought, to: to![0]! };
    const answer = await browser.send('/users/sign_in', 'sign_in', fields);
    assert.deepEqual([answer.status, answer.to], [303, keys], brought);
  }
  const own = await stranger.send('/users/confirm_password', 'confirm', {
    password,
    kept: kept![0]!,
    to: '/groups/new',
  });
  assert.equal(own.to, '/groups/new', 'and only at the address of its page');
});

test('who guesses passwords locks out neither browsers nor addresses that the owner has used', async () => {
  const here = await place();
  const { developer } = here.people;
  const login = developer.username;
  await here.as('admin').put(`/users/${developer.id}`, { password });
  const known = anonymousBrowser(here.url, at('192.0.2.1'));
  const tryAt = async (browser: ReturnType<typeof anonymousBrowser>, word: string) =>
    (await browser.send('/users/sign_in', 'sign_in', { login, password: word })).status;
  assert.equal(await tryAt(known, password), 303);
  for (let guess = 0; guess < 12; guess++)
    assert.equal(await tryAt(anonymousBrowser(here.url, at(`198.51.100.${guess}`)), 'wrong'), guess < 10 ? 401 : 429);
  assert.equal(await tryAt(anonymousBrowser(here.url, at('203.0.113.1')), password), 429, 'neither is known');
  assert.equal(await tryAt(anonymousBrowser(here.url, at('192.0.2.1')), password), 303, 'the address is known');
  for (let guess = 0; guess < 10; guess++) await tryAt(anonymousBrowser(here.url, at('192.0.2.1')), 'wrong');
  assert.equal(await tryAt(anonymousBrowser(here.url, at('192.0.2.1')), password), 429, 'it has its own count');
  assert.equal(await tryAt(known, password), 303, 'the browser is known');
  for (let guess = 0; guess < 10; guess++) await tryAt(known, 'wrong');
  assert.equal(await tryAt(known, password), 429);
  const other = await browserOf(here, here.people.planner);
  assert.equal(await tryAt(other, password), 429, 'to another person');
  const limited = await known.send('/users/sign_in', 'sign_in', { login, password });
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '600']);
});

test('links to choose a password are counted by account, too', async () => {
  const here = await place();
  const { body } = await here.as('admin').get(`/users/${here.people.developer.id}`);
  for (const email of [body.email, 'nobody-at-all@example.com']) {
    const statuses: number[] = [];
    for (let asked = 0; asked < 8; asked++) {
      const browser = anonymousBrowser(here.url, at(`198.51.100.${asked}`));
      statuses.push((await browser.send('/users/password/new', 'reset', { email })).status);
    }
    assert.deepEqual(statuses, [303, 303, 303, 303, 303, 429, 429, 429], email);
  }
  assert.equal((await mailOf(here.services, [sendPasswordLink])).length, 5);
});

test('a link by mail lets a user choose a password once, and says nothing of who has an account', async () => {
  const here = await place();
  const { developer } = here.people;
  const { body } = await here.as('admin').get(`/users/${developer.id}`);
  const browser = anonymousBrowser(here.url);
  const answers = await Promise.all(
    [body.email, 'nobody@example.com'].map(async (email) => {
      const { to } = await browser.send('/users/password/new', 'reset', { email });
      return (await browser.get(to!)).html;
    }),
  );
  assert.equal(answers[0], answers[1]);
  const mails = await mailOf(here.services, [sendPasswordLink]);
  assert.equal(mails.length, 1);
  const link = linkIn(mails[0]!);
  assert.equal((await browser.get(link.pathname + link.search)).status, 200);
  const token = link.searchParams.get('reset_password_token')!;
  const choose = (password: string, repeated = password) =>
    browser.send('/users/password/edit', 'choose', {
      password,
      password_confirmation: repeated,
      reset_password_token: token,
    });
  assert.match((await choose('one', 'two')).html, /is not the same as the new password/);
  assert.equal((await choose('short')).status, 400);
  assert.equal((await choose('a new word for the developer')).to, '/users/sign_in');
  assert.equal((await choose('a new word for the developer')).status, 410);
  const signedIn = await browser.send('/users/sign_in', 'sign_in', {
    login: body.email,
    password: 'a new word for the developer',
  });
  assert.equal(signedIn.status, 303);
});

test('a user who was deactivated is active again by signing in', async () => {
  const here = await place();
  const { guest } = here.people;
  await browserOf(here, guest);
  await sql`update users set state = 'deactivated' where id = ${guest.id}`.execute(here.db);
  const browser = anonymousBrowser(here.url);
  assert.equal(
    (
      await browser.send('/users/sign_in', 'sign_in', {
        login: guest.username,
        password: 'a word that only tests pass',
      })
    ).status,
    303,
  );
  assert.equal((await here.as('guest').get('/user')).body.state, 'active');
});

/** Lets the password that was given count no more. */
async function unconfirm({ db }: World, { id }: { id: number }): Promise<void> {
  await sql`update web_sessions set confirmed_at = now() - interval '61 minutes' where user_id = ${id}`.execute(db);
  await sql`update users set name = name || '' where id = ${id}`.execute(db);
}

test('what was typed into a sensitive form is there again after the password', async () => {
  const here = await place();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const keys = '/-/user_settings/ssh_keys';
  const typed = { title: 'My "laptop"', key: newPublicKey(), usage_type: 'signing', expires_at: '2090-01-01' };
  await unconfirm(here, developer);
  const asked = await browser.send(keys, 'add', typed);
  assert.equal(asked.status, 401);
  const confirm = () => formsIn(asked.html).find(({ id }) => id === 'confirm')!;
  const [kept, to] = [sentBy(confirm()).kept![0]!, sentBy(confirm()).to![0]!];
  assert.equal(confirm().action, '/users/confirm_password');
  const wrong = await browser.send('/users/confirm_password', 'confirm', { password: 'wrong', kept, to });
  assert.equal(wrong.status, 422);
  assert.deepEqual(sentBy(formsIn(wrong.html).find(({ id }) => id === 'confirm')!).kept, [kept]);
  assert.deepEqual((await here.as('developer').get('/user/keys')).body, []);
  const again = await browser.send('/users/confirm_password', 'confirm', { password, kept, to });
  assert.equal(again.status, 200);
  const form = formsIn(again.html).find(({ id }) => id === 'add')!;
  assert.match(form.summary!, /Your password is confirmed/);
  assert.equal(form.action, keys);
  const { key, ...others } = typed;
  const shown = sentBy(form);
  assert.equal(shown.key![0]!.trim(), key);
  for (const [name, value] of Object.entries(others)) assert.deepEqual(shown[name], [value]);
  assert.equal((await browser.send(keys, 'add', typed)).status, 303);
  assert.deepEqual(
    (await here.as('developer').get('/user/keys')).body.map(({ title }: { title: string }) => title),
    [typed.title],
  );
});

test('creating and rotating a token ask for the password, and keep the scopes that were ticked', async () => {
  const here = await place();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const tokens = '/-/user_settings/personal_access_tokens';
  await unconfirm(here, developer);
  const asked = await browser.send(tokens, 'create', { name: 'robot', 'scopes[]': ['read_api', 'read_user'] });
  assert.equal(asked.status, 401);
  const { kept, to } = sentBy(formsIn(asked.html).find(({ id }) => id === 'confirm')!);
  const given = { password: 'a word that only tests pass', kept: kept![0]!, to: to![0]! };
  const { html } = await browser.send('/users/confirm_password', 'confirm', given);
  const shown = sentBy(formsIn(html).find(({ id }) => id === 'create')!);
  assert.deepEqual([shown.name, shown['scopes[]']], [['robot'], ['read_api', 'read_user']]);
  await unconfirm(here, developer);
  const [{ id }] = (await here.as('developer').get('/personal_access_tokens')).body;
  assert.equal((await browser.send(tokens, 'rotate', { id: String(id), _key: String(id) })).status, 401);
  assert.equal((await here.as('developer').get(`/personal_access_tokens/${id}`)).body.active, true);
});

test('the address at which a form was sent keeps its query through the sign-in', async () => {
  const here = await place();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  await sql`delete from web_sessions where user_id = ${developer.id}`.execute(here.db);
  const asked = await browser.send('/groups/new?parent_id=7&a=b', 'create', { name: 'Trees' });
  const { to } = sentBy(formsIn(asked.html).find(({ id }) => id === 'sign_in')!);
  assert.deepEqual(to, ['/groups/new?parent_id=7&a=b']);
});
