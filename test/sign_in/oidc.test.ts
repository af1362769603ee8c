/** Signing in through a foreign OpenID Connect provider. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import { ownAddress } from '../support/address.ts';
import { anonymousBrowser, type Browser, browserOf, password } from '../support/browser.ts';
import { browserTest } from '../support/chromium.ts';
import { atFileEnd } from '../support/file_end.ts';
import { followTo, type OidcPeer, oidcClient, startOidcProvider } from '../support/oidc_provider.ts';
import { sent } from '../support/sent.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type World, world } from '../support/world.ts';

const names = ['corporate', 'linking', 'closed', 'groups', 'open'];
let peer: OidcPeer;
let other: OidcPeer;
let environment: Record<string, string>;

before(async () => {
  const address = await ownAddress();
  peer = await startOidcProvider(address.COPPICE_URL!, names);
  other = await startOidcProvider(address.COPPICE_URL!, ['other']);
  atFileEnd(() => peer.stop());
  atFileEnd(() => other.stop());
  const common = { type: 'oidc', issuer: peer.issuer, ...oidcClient };
  const file = await signInFile({
    providers: [
      { ...common, name: 'corporate', label: 'Corporate account' },
      { ...common, name: 'open', block_auto_created: false, sync_profile: ['name', 'email'], external: true },
      { ...common, name: 'linking', auto_link_user: true, allow_sign_up: false, client_auth_method: 'post' },
      { ...common, name: 'closed', allow_sign_up: false },
      {
        ...{ ...common, name: 'groups', block_auto_created: false },
        ...{ required_groups: ['staff', 'guests'], admin_groups: ['chiefs'], external_groups: ['guests'] },
      },
      { ...common, name: 'other', issuer: other.issuer, block_auto_created: false },
    ],
  });
  environment = { ...address, ...file };
});

const here = () => world({ environment });

/** Goes to a provider and comes back. @returns where the callback leads, and what it shows */
async function signIn(at: World, browser: Browser, provider: string, fields: Record<string, string> = {}) {
  const away = await browser.send(`/users/auth/${provider}`, 'sign_in', fields);
  assert.equal(away.status, 303, away.html);
  return browser.get(await followTo(at.url, away.headers.get('location')!));
}

let count = 0;
/** A person at the provider. */
function somebody(claims: Record<string, unknown> = {}, at = peer) {
  const sub = `person-${++count}`;
  const all = {
    name: `Ada ${count}`,
    preferred_username: `ada-${count}`,
    email: `ada-${count}@id.example.com`,
    ...claims,
  };
  at.people.set(sub, all);
  at.who = sub;
  return { sub, username: String(all.preferred_username), email: String(all.email) };
}

const usersNamed = async ({ as }: World, username: string) => sent(as('admin').get(`/users?username=${username}`));
const userWith = async ({ as }: World, provider: string, uid: string) =>
  (await sent(as('admin').get(`/users?extern_uid=${uid}&provider=${provider}`)))[0];
const whoIs = async (browser: Browser) => (await browser.get('/-/user_settings/identities')).status;

test('a person without an account gets one, signs in, and comes back to it', async () => {
  const at = await here();
  const { sub, username, email } = somebody();
  const browser = anonymousBrowser(at.url);
  const { status, to, html } = await signIn(at, browser, 'open', { to: '/dashboard/todos' });
  assert.deepEqual([status, to], [302, '/dashboard/todos'], html);
  const user = await userWith(at, 'open', sub);
  assert.partialDeepStrictEqual(user, { username, name: 'Ada 1', email, state: 'active', external: true });
  assert.deepEqual(user.identities, [{ provider: 'open', extern_uid: sub, saml_provider_id: null }]);
  assert.equal(user.confirmed_at, null, 'the provider has not verified the address');
  peer.people.set(sub, { name: 'Ada King', email: 'king@id.example.com', email_verified: true });
  assert.equal((await signIn(at, anonymousBrowser(at.url), 'open')).to, '/');
  assert.partialDeepStrictEqual(await userWith(at, 'open', sub), {
    id: user.id,
    name: 'Ada King',
    email: 'king@id.example.com',
  });
});

test('audit events say who has signed in with what, and that somebody was refused', async () => {
  const at = await here();
  const { sub } = somebody();
  const browser = anonymousBrowser(at.url);
  assert.equal((await signIn(at, browser, 'open')).to, '/');
  const { id, name } = await userWith(at, 'open', sub);
  const [event] = await sent(at.as('admin').get(`/audit_events?entity_type=User&entity_id=${id}`));
  assert.partialDeepStrictEqual(event, { author_id: id, event_name: 'authenticated_with_oauth' });
  assert.partialDeepStrictEqual(event.details, { author_name: name, custom_message: 'Signed in with open' });
  const away = await browser.send('/users/auth/open', 'sign_in');
  await followTo(at.url, away.headers.get('location')!);
  assert.equal((await browser.get('/users/auth/open/callback?code=wrong&state=wrong')).status, 401);
  const [failure] = await sent(at.as('admin').get('/audit_events?entity_type=Gitlab::Audit::InstanceScope'));
  assert.partialDeepStrictEqual(failure, { author_id: -1, event_name: 'omniauth_login_failed' });
});

test('a new account waits for an administrator, unless the operator says otherwise', async () => {
  const at = await here();
  const { sub } = somebody({ email_verified: true });
  const browser = anonymousBrowser(at.url);
  for (let turn = 0; turn < 2; turn++) {
    const { status, html, to } = await signIn(at, browser, 'corporate');
    assert.deepEqual([status, to], [403, undefined]);
    assert.match(html, /Your account is waiting for an administrator\./);
    assert.match(html, /href="\/users\/sign_in"/);
  }
  const { id, state, confirmed_at } = await userWith(at, 'corporate', sub);
  assert.equal(state, 'blocked_pending_approval');
  assert.notEqual(confirmed_at, null);
  assert.equal((await at.as('admin').post(`/users/${id}/approve`)).status, 201);
  assert.equal((await signIn(at, browser, 'corporate')).to, '/');
});

test('a username is made valid, and gets a number when a user or a group has it', async () => {
  const at = await here();
  const usernames = [];
  for (const preferred_username of ['Zoë Müller@corp', at.group.path, at.people.guest.username, 'admin', '@']) {
    const { sub } = somebody({ preferred_username });
    assert.equal((await signIn(at, anonymousBrowser(at.url), 'open')).to, '/');
    usernames.push((await userWith(at, 'open', sub)).username);
  }
  const expected = ['Zoe-Muller', `${at.group.path}1`, `${at.people.guest.username}1`, 'admin1', 'user'];
  assert.deepEqual(usernames, expected);
});

test('an address is never given away, and only a verified one tells that an account has it', async () => {
  const at = await here();
  const email = `${at.people.guest.username}@example.com`;
  somebody({ email, email_verified: true });
  const known = await signIn(at, anonymousBrowser(at.url), 'open');
  assert.equal(known.status, 422);
  assert.match(known.html, /An account with this address exists\. Sign in to it and link open there\./);
  for (const email_verified of [false, 'true', 1, undefined]) {
    somebody({ email, email_verified });
    const { status, html } = await signIn(at, anonymousBrowser(at.url), 'open');
    assert.equal(status, 401);
    assert.match(html, /Sign-in with open failed: ask whoever runs it\./);
  }
  somebody();
  assert.equal((await signIn(at, anonymousBrowser(at.url), 'closed')).status, 401);
});

test('a verified address links an account where the operator says so', async () => {
  const at = await here();
  const { id, username } = at.people.guest;
  for (const email_verified of [false, 'true', undefined]) {
    somebody({ email: `${username}@example.com`, email_verified });
    assert.equal((await signIn(at, anonymousBrowser(at.url), 'linking')).status, 401);
  }
  const { sub } = somebody({ email: `${username}@example.com`, email_verified: true });
  assert.equal((await signIn(at, anonymousBrowser(at.url), 'linking')).to, '/');
  assert.equal((await userWith(at, 'linking', sub)).id, id);
  somebody({ email: `${username}@example.com`, email_verified: true });
  const second = await signIn(at, anonymousBrowser(at.url), 'linking');
  assert.equal(second.status, 401, 'the account has an identity there');
  assert.equal((await userWith(at, 'linking', sub)).id, id);
});

test('groups decide who may sign in, who is an administrator, and who is external', async () => {
  const at = await here();
  const { sub } = somebody({ groups: ['chiefs'] });
  const claims = peer.people.get(sub)!;
  const signInAs = async (groups: unknown) => {
    peer.people.set(sub, { ...claims, groups });
    return signIn(at, anonymousBrowser(at.url), 'groups');
  };
  for (const groups of [['chiefs'], [], undefined, { staff: true }]) {
    const { status, html } = await signInAs(groups);
    assert.equal(status, 403);
    assert.match(html, /Your account has not been approved\./);
  }
  assert.equal(await userWith(at, 'groups', sub), undefined);
  const seen = async (groups: string[]) => {
    assert.equal((await signInAs(groups)).to, '/');
    const { is_admin, external } = await userWith(at, 'groups', sub);
    return [is_admin, external];
  };
  assert.deepEqual(await seen(['staff']), [false, false]);
  assert.deepEqual(await seen(['staff', 'chiefs']), [true, false]);
  assert.deepEqual(await seen(['guests']), [false, true]);
  // The last administrator stays one.
  const { id } = await userWith(at, 'groups', sub);
  assert.deepEqual(await seen(['staff', 'chiefs']), [true, false]);
  const others = await at.db.selectFrom('users').select('id').where('admin', '=', true).where('id', '<>', id).execute();
  const ids = others.map((each) => each.id);
  await at.db.updateTable('users').set({ admin: false }).where('id', 'in', ids).execute();
  try {
    assert.equal((await signInAs(['staff'])).to, '/');
    const { admin } = await at.db.selectFrom('users').select('admin').where('id', '=', id).executeTakeFirstOrThrow();
    assert.equal(admin, true);
  } finally {
    await at.db.updateTable('users').set({ admin: true }).where('id', 'in', ids).execute();
  }
});

test('somebody who is signed in links an identity and unlinks it, and the last way to sign in stays', async () => {
  const at = await here();
  const path = '/-/user_settings/identities';
  const browser = await browserOf(at, at.people.guest);
  const { sub } = somebody();
  const link = async (from: Browser) => {
    const away = await from.send(path, 'link', { provider: 'corporate' });
    return from.get(await followTo(at.url, away.headers.get('location')!));
  };
  assert.equal((await link(browser)).to, path);
  assert.equal((await userWith(at, 'corporate', sub)).id, at.people.guest.id);
  assert.match((await browser.get(path)).html, /Unlink Corporate account/);
  // It belongs to one user.
  const another = await browserOf(at, at.people.reporter);
  const refused = await link(another);
  assert.equal(refused.status, 422);
  assert.match(refused.html, /This identity belongs to another account\./);
  assert.equal((await userWith(at, 'corporate', sub)).id, at.people.guest.id);
  // A linked identity signs in.
  assert.equal((await signIn(at, anonymousBrowser(at.url), 'corporate')).to, '/');
  assert.equal((await browser.send(path, 'unlink', { provider: 'corporate' })).to, path);
  assert.equal((await browser.send(path, 'unlink', { provider: 'corporate' })).status, 404);
  assert.equal(await userWith(at, 'corporate', sub), undefined);
  somebody();
  const { sub: only } = somebody();
  const fresh = anonymousBrowser(at.url);
  await signIn(at, fresh, 'open');
  const last = await fresh.send(path, 'unlink', { provider: 'open' });
  assert.equal(last.status, 422);
  assert.match(last.html, /This is the only way to sign in\./);
  assert.ok(await userWith(at, 'open', only));
});

test('linking needs the password of the last hour, and the user who began it', async () => {
  const at = await here();
  const path = '/-/user_settings/identities';
  const browser = await browserOf(at, at.people.guest);
  const { sub } = somebody();
  const away = await browser.send(path, 'link', { provider: 'corporate' });
  const back = await followTo(at.url, away.headers.get('location')!);
  // Somebody else signs in before the browser is back.
  const set = await at.as('admin').put(`/users/${at.people.reporter.id}`, { password });
  assert.equal(set.status, 200);
  await browser.send('/users/sign_in', 'sign_in', { login: at.people.reporter.username, password });
  assert.equal((await browser.get(back)).status, 401);
  assert.equal(await userWith(at, 'corporate', sub), undefined);
  await sql`update web_sessions set confirmed_at = now() - interval '2 hours'`.execute(at.db);
  assert.equal((await browser.send(path, 'link', { provider: 'corporate' })).status, 401);
});

test('GET begins nothing, nor does a form of another site', async () => {
  const at = await here();
  const before = await at.db.selectFrom('provider_sign_ins').selectAll().execute();
  const address = `${at.url}/users/auth/open`;
  const headers = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
  const statuses = [
    await fetch(address, { headers: { accept: 'text/html', cookie: 'coppice=x' }, redirect: 'manual' }),
    await fetch(address, {
      method: 'POST',
      headers: { ...headers, 'sec-fetch-site': 'cross-site' },
      body: '_do=sign_in',
    }),
    await fetch(address, {
      method: 'POST',
      headers: { ...headers, origin: 'https://evil.example.com' },
      body: '_do=sign_in',
    }),
    await fetch(`${address}x`, {
      method: 'POST',
      headers: { ...headers, 'sec-fetch-site': 'same-origin' },
      body: '_do=sign_in',
    }),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [302, 403, 403, 404]);
  const signedIn = await browserOf(at, at.people.guest);
  assert.equal((await signedIn.get('/users/auth/open')).status, 404);
  assert.deepEqual(await at.db.selectFrom('provider_sign_ins').selectAll().execute(), before);
});

test('a form needs no name where a page has one', async () => {
  const at = await here();
  const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin' };
  const { status } = await fetch(`${at.url}/users/auth/open`, { method: 'POST', redirect: 'manual', headers });
  assert.equal(status, 303);
});

test('a sign-in makes a new session, and leads to this server only', async () => {
  const at = await here();
  somebody();
  const browser = await browserOf(at, at.people.guest);
  const before = await sql<{ id: number }>`select id from web_sessions order by id`.execute(at.db);
  for (const to of ['https://evil.example.com/', '//evil.example.com', '/\\evil.example.com', 'javascript:alert(1)'])
    assert.equal((await signIn(at, browser, 'open', { to })).to, '/');
  const after = await sql<{ id: number }>`select id from web_sessions order by id`.execute(at.db);
  assert.equal(after.rows.length, before.rows.length + 4);
  assert.equal(await whoIs(browser), 200);
});

test('a callback counts once, in the browser that began it, and with the provider that it began with', async () => {
  const at = await here();
  const { sub } = somebody();
  const { sub: atOther } = somebody({}, other);
  const begin = async (browser: Browser, provider: string) => {
    const away = await browser.send(`/users/auth/${provider}`, 'sign_in');
    return followTo(at.url, away.headers.get('location')!);
  };
  const mine = anonymousBrowser(at.url);
  const back = await begin(mine, 'open');
  // Another browser: login CSRF.
  assert.equal((await anonymousBrowser(at.url).get(back)).status, 401);
  const another = anonymousBrowser(at.url);
  await begin(another, 'open');
  assert.equal((await another.get(back)).status, 401);
  assert.equal(await userWith(at, 'open', sub), undefined);
  // Mix-up: the answer of one provider at the callback of the other.
  const mixed = anonymousBrowser(at.url);
  const ofOther = await begin(mixed, 'other');
  assert.equal((await mixed.get(ofOther.replace('/auth/other/', '/auth/open/'))).status, 401);
  const confused = anonymousBrowser(at.url);
  const honest = await begin(confused, 'open');
  await begin(confused, 'other');
  assert.equal((await confused.get(honest)).status, 401);
  assert.equal(await userWith(at, 'other', atOther), undefined);
  assert.equal((await mine.get(back)).to, '/', 'nothing of this has used the first one up');
  assert.equal((await mine.get(back)).status, 401, 'it has counted');
});

test('a thousand hostile callbacks make and sign in nobody', async () => {
  const at = await here();
  const victim = somebody();
  const state = async () => {
    const { rows } = await sql<{ users: number; identities: number; sessions: number }>`
      select (select count(*) from users) as users, (select count(*) from user_identities) as identities, (select count(*) from web_sessions) as sessions`.execute(
      at.db,
    );
    return rows[0];
  };
  const before = await state();
  const browser = anonymousBrowser(at.url);
  const away = await browser.send('/users/auth/open', 'sign_in');
  const back = await followTo(at.url, away.headers.get('location')!);
  const cookie = away.headers
    .getSetCookie()
    .find((each) => each.startsWith('coppice-provider='))!
    .split(';')[0]!;
  const valid = new URL(back, at.url);
  const changes: ((value: string) => string)[] = [
    () => '',
    (value) => value.slice(1),
    (value) => `${value}x`,
    (value) => value.toUpperCase(),
    (value) => `${value}%00`,
    (value) => `${value},${value}`,
    () => 'null',
    (value) => Buffer.from(value).toString('base64url'),
    () => "' or 1=1 --",
    () => '\ud800',
    () => '1e20',
  ];
  const hostile: { url: URL; cookie: string }[] = [];
  const add = (url: URL, with_cookie = cookie) => hostile.push({ url, cookie: with_cookie });
  for (const name of ['code', 'state', 'iss'])
    for (const change of changes) {
      const url = new URL(valid);
      url.searchParams.set(name, change(url.searchParams.get(name)!));
      add(url, `${cookie}x`);
      const twice = new URL(valid);
      twice.searchParams.append(name, change(valid.searchParams.get(name)!));
      add(twice, '');
      const without = new URL(valid);
      without.searchParams.delete(name);
      add(without, 'coppice-provider=');
    }
  for (const change of changes)
    add(valid, `coppice-provider=${encodeURIComponent(change(cookie.split('=')[1]!).toWellFormed())}`);
  while (hostile.length < 900) {
    const url = new URL(valid);
    const value = url.searchParams.get('state')!;
    const place = hostile.length % value.length;
    url.searchParams.set(
      'state',
      value.slice(0, place) + String.fromCharCode(33 + (hostile.length % 90)) + value.slice(place + 1),
    );
    add(url, hostile.length % 2 === 0 ? `${cookie}${hostile.length}` : '');
  }
  const ask = async ({ url, cookie }: { url: URL; cookie: string }) =>
    (await fetch(url, { headers: { accept: 'text/html', cookie }, redirect: 'manual' })).status;
  const counts = new Map<number, number>();
  for (const each of hostile) {
    const status = await ask(each);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  // The right cookie, and one thing that is wrong: each of these begins anew.
  for (let turn = 0; turn < 100; turn++) {
    const own = anonymousBrowser(at.url);
    const gone = await own.send('/users/auth/open', 'sign_in');
    const url = new URL(await followTo(at.url, gone.headers.get('location')!), at.url);
    const name = ['code', 'state', 'iss'][turn % 3]!;
    const change = changes[turn % changes.length]!;
    const value = url.searchParams.get(name)!;
    if (turn % 5 === 0) url.searchParams.append(name, `${value}x`);
    else if (change(value) === '' && name === 'iss') url.searchParams.delete('iss');
    else url.searchParams.set(name, change(value));
    if (turn % 7 === 0) url.searchParams.set('error', 'access_denied');
    const { status, html } = await own.get(url.pathname + url.search);
    assert.equal(status, 401, `${url} ${html}`);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  assert.deepEqual([...counts], [[401, hostile.length + 100]]);
  assert.deepEqual(await state(), before);
  assert.equal(await userWith(at, 'open', victim.sub), undefined);
  assert.equal((await browser.get(back)).to, '/', 'the right one still counts');
});

browserTest('a browser goes to a provider and comes back, and forms lead nowhere else', async (invite) => {
  const at = await here();
  const { username } = somebody();
  const visitor = await invite(at.url, { javaScriptEnabled: false });
  await visitor.open('/users/sign_in?to=%2Fdashboard%2Ftodos');
  await visitor.press('Sign in with open');
  assert.equal(visitor.path, '/dashboard/todos');
  assert.equal((await usersNamed(at, username)).length, 1);
  const { headers } = await fetch(`${at.url}/users/sign_in`);
  assert.match(
    headers.get('content-security-policy')!,
    new RegExp(`form-action 'self' ${peer.issuer} ${other.issuer};`),
  );
  const elsewhere = await fetch(`${at.url}/users/password/new`);
  assert.match(elsewhere.headers.get('content-security-policy')!, /form-action 'self';/);
});

browserTest('a browser links an account at a provider, and unlinks it', async (invite) => {
  const at = await here();
  const { sub } = somebody();
  const { id, username } = at.people.developer;
  await sent(at.as('admin').put(`/users/${id}`, { password }));
  const visitor = await invite(at.url, { javaScriptEnabled: false });
  await visitor.signIn(username, password);
  await visitor.open('/-/user_settings/identities');
  await visitor.press('Link Corporate account');
  assert.equal(visitor.path, '/-/user_settings/identities');
  assert.equal((await userWith(at, 'corporate', sub)).id, id);
  await visitor.press('Unlink Corporate account');
  assert.equal(await userWith(at, 'corporate', sub), undefined);
});
