/** Second factors in a browser: setting them up, signing in with them, and what asks for them (docs/reference/second_factors.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { tellOwner } from '../../src/areas/people/account_notices/index.ts';
import { writeInvitation } from '../../src/areas/spaces/invitations/index.ts';
import { anonymousBrowser, type Browser, browserOf, password, type Shown } from '../support/browser.ts';
import { linksIn, mailOf } from '../support/mail.ts';
import type { Person } from '../support/populate.ts';
import { newPublicKey } from '../support/public_key.ts';
import { type World, world } from '../support/world.ts';

const page = '/-/user_settings/two_factor';

const isTo = (to: { address: string } | string, { username }: Pick<Person, 'username'>): boolean =>
  (typeof to === 'string' ? to : to.address).startsWith(`${username}@`);
const step_ms = 30_000;

/** A code of a secret as an authenticator shows it. @param ahead how many time steps from now */
const codeOf = (secret: string, ahead = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + ahead * step_ms });

const secretIn = ({ html }: Shown): string => /Secret: <code>([A-Z2-7 ]+)<\/code>/.exec(html)![1]!.replaceAll(' ', '');
const codesIn = ({ html }: Shown): string[] =>
  [...html.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, code]) => code!);

/** Sets an authenticator up. @returns its secret, and the recovery codes */
async function setUp(browser: Browser): Promise<{ secret: string; codes: string[] }> {
  assert.equal((await browser.send(page, 'set_up')).to, page);
  const shown = await browser.get(page);
  assert.equal(shown.headers.get('cache-control'), 'no-store');
  const secret = secretIn(shown);
  const enabled = await browser.send(page, 'enable', { code: codeOf(secret, -1) });
  assert.equal(enabled.status, 200);
  return { secret, codes: codesIn(enabled) };
}

async function startsWith(here: World, { username }: Pick<Person, 'username'>, fields: Record<string, string> = {}) {
  const browser = anonymousBrowser(here.url);
  const shown = await browser.send('/users/sign_in', 'sign_in', { login: username, password, ...fields });
  return { browser, shown };
}

const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.get(page)).status === 200;

test('an authenticator is enabled by a code, and the password alone then signs nobody in', async () => {
  const here = await world();
  const { developer } = here.people;
  const first = await browserOf(here, developer);
  const other = await startsWith(here, developer);
  assert.ok(await isSignedIn(other.browser));
  const { secret, codes } = await setUp(first);
  assert.equal(secret.length, 32);
  assert.equal(new Set(codes).size, 10);
  assert.ok(!(await isSignedIn(other.browser)), 'other sessions end');
  assert.doesNotMatch((await first.get(page)).html, /Secret:/);
  assert.equal((await here.as('developer').get('/user')).body.two_factor_enabled, true);

  const to = `/${developer.username}`;
  const { browser, shown } = await startsWith(here, developer, { to });
  assert.deepEqual([shown.status, shown.to], [303, '/users/sign_in/two_factor']);
  assert.ok(!(await isSignedIn(browser)));
  const wrong = await browser.send('/users/sign_in/two_factor', 'code', { code: '000000' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.html, /The code is wrong\./);
  const code = codeOf(secret);
  const right = await browser.send('/users/sign_in/two_factor', 'code', { code });
  assert.deepEqual([right.status, right.to], [303, to]);
  assert.ok(await isSignedIn(browser));

  const again = await startsWith(here, developer);
  const replayed = await again.browser.send('/users/sign_in/two_factor', 'code', { code });
  assert.equal(replayed.status, 422, 'a code counts once');
});

test('a recovery code signs in once, also if it is given twice at the same time', async () => {
  const here = await world();
  const { developer } = here.people;
  const { codes } = await setUp(await browserOf(here, developer));
  const starts = await Promise.all([startsWith(here, developer), startsWith(here, developer)]);
  const typed = codes[0]!.replaceAll('-', ' ').toUpperCase();
  const given = await Promise.all(
    starts.map(({ browser }) => browser.send('/users/sign_in/two_factor', 'code', { code: typed })),
  );
  assert.deepEqual(given.map(({ status }) => status).sort(), [303, 422]);
});

test('ten wrong codes of an account lock all its browsers for a while', async () => {
  const here = await world();
  const { developer } = here.people;
  const { secret } = await setUp(await browserOf(here, developer));
  const starts = await Promise.all([startsWith(here, developer), startsWith(here, developer)]);
  const statuses: number[] = [];
  for (let count = 0; count < 10; count++) {
    const { browser } = starts[count % 2]!;
    statuses.push((await browser.send('/users/sign_in/two_factor', 'code', { code: '123123' })).status);
  }
  assert.deepEqual(statuses, Array(10).fill(422));
  const locked = await starts[0].browser.send('/users/sign_in/two_factor', 'code', { code: codeOf(secret) });
  assert.equal(locked.status, 429);
});

test('a sign-in that waits is of one browser, and ends with the user', async () => {
  const here = await world();
  const { developer } = here.people;
  const { secret } = await setUp(await browserOf(here, developer));
  const other = anonymousBrowser(here.url);
  assert.equal((await other.send('/users/sign_in/two_factor', 'code', { code: codeOf(secret) })).to, '/users/sign_in');
  const { browser } = await startsWith(here, developer);
  await here.as('admin').post(`/users/${developer.id}/block`);
  const refused = await browser.send('/users/sign_in/two_factor', 'code', { code: codeOf(secret) });
  assert.equal(refused.to, '/users/sign_in');
  assert.ok(!(await isSignedIn(browser)));
});

test('what is sensitive asks for the second factor of those who have one, and not for the password', async () => {
  const here = await world();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const { codes } = await setUp(browser);
  await here.db
    .updateTable('web_sessions')
    .set({ confirmed_at: '2026-01-01T00:00:00Z' })
    .where('user_id', '=', developer.id)
    .execute();
  const asked = await browser.send(page, 'renew_codes');
  assert.equal(asked.status, 401);
  assert.match(asked.html, /autocomplete="one-time-code"/);
  const byPassword = await browser.send('/users/confirm_password', 'confirm', { password });
  assert.equal(byPassword.status, 422);
  const byCode = await browser.send('/users/confirm_password', 'code', { code: codes[1]! });
  assert.equal(byCode.status, 303);
  const renewed = await browser.send(page, 'renew_codes');
  assert.equal(codesIn(renewed).length, 10);
  const { browser: later } = await startsWith(here, developer);
  assert.equal((await later.send('/users/sign_in/two_factor', 'code', { code: codes[2]! })).status, 422);
});

test('tokens for passwords are refused to those who have a second factor', async () => {
  const here = await world();
  const { developer } = here.people;
  const tokenFor = (secret: string) =>
    fetch(`${here.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: developer.username, password: secret }),
    }).then(async (response) => [response.status, ((await response.json()) as { error?: string }).error]);
  const browser = await browserOf(here, developer);
  assert.deepEqual(await tokenFor(password), [200, undefined]);
  await setUp(browser);
  assert.deepEqual(await tokenFor(password), [400, 'invalid_grant']);
});

test('administrators remove the second factors of users, but of no administrator', async () => {
  const here = await world();
  const { developer, admin } = here.people;
  const browser = await browserOf(here, developer);
  const remove = (id: number) => here.as('admin').patch(`/users/${id}/disable_two_factor`);
  assert.deepEqual(
    [(await remove(developer.id)).status, (await remove(developer.id)).body.message],
    [400, '400 Bad request - Two-factor authentication is not enabled for this user'],
  );
  await setUp(browser);
  const found = async (value: string) =>
    (await here.as('admin').get(`/users?two_factor=${value}&username=${developer.username}`)).body.length;
  assert.deepEqual([await found('enabled'), await found('disabled')], [1, 0]);
  assert.equal((await here.as('developer').patch(`/users/${developer.id}/disable_two_factor`)).status, 403);
  assert.equal((await remove(developer.id)).status, 204);
  const removals = `/audit_events?entity_type=User&entity_id=${developer.id}&event_name=user_disable_two_factor`;
  const told = (await here.as('admin').get(removals)).body.map(({ author_id }: { author_id: number }) => author_id);
  assert.deepEqual(told, [admin.id]);
  assert.ok(!(await isSignedIn(browser)));
  assert.equal((await startsWith(here, developer)).shown.to, '/');
  assert.equal((await remove(admin.id)).status, 403);
  assert.equal((await remove(2 ** 40)).status, 404);
});

test('whoever must have a second factor is told so, and led to it when the time is over', async () => {
  const here = await world({});
  const { developer, maintainer } = here.people;
  const { group } = here;
  await here.db
    .updateTable('namespaces')
    .set({ require_two_factor_authentication: true, two_factor_grace_period: 24 })
    .where('id', '=', group.id)
    .execute();
  const browser = await browserOf(here, developer);
  const shown = await browser.get('/dashboard/todos');
  assert.equal(shown.status, 200);
  assert.match(shown.html, /You must set up a second factor before/);
  await here.db
    .updateTable('users')
    .set({ second_factor_asked_at: '2026-01-01T00:00:00Z' })
    .where('id', '=', developer.id)
    .execute();
  assert.equal((await browser.get('/dashboard/todos')).to, page);
  assert.equal((await browser.send('/-/profile/preferences', 'change')).to, page);
  assert.equal((await browser.get(page)).status, 200);
  await here.as('developer').get('/user');
  const { codes } = await setUp(browser);
  assert.equal((await browser.get('/dashboard/todos')).status, 200);
  const refused = await browser.send(page, 'remove');
  assert.equal(refused.status, 422);
  assert.match(refused.html, /You must have a second factor/);
  assert.equal((await browser.send('/users/sign_out', 'sign_out')).status, 303);
  assert.equal(codes.length, 10);
  assert.ok(maintainer);
});

test('a sign-in from a new place, and a new key, are told by mail', async () => {
  const here = await world();
  const { developer } = here.people;
  const subjects = async () =>
    (await mailOf(here.services, [tellOwner])).filter(({ to }) => isTo(to, developer)).map(({ subject }) => subject);
  await browserOf(here, developer);
  await here.as('developer').post('/user/keys', { title: 'laptop', key: newPublicKey() });
  assert.deepEqual((await subjects()).sort(), ['An SSH key was added', 'Your password has changed']);
  await here.db
    .updateTable('users')
    .set({ current_sign_in_ip: '192.0.2.1', last_sign_in_ip: '192.0.2.2' })
    .where('id', '=', developer.id)
    .execute();
  await here.db.deleteFrom('web_sessions').where('user_id', '=', developer.id).execute();
  await startsWith(here, developer);
  await startsWith(here, developer);
  assert.deepEqual(await subjects(), ['A sign-in from a new place']);
});

test('an invitation is not accepted by a password alone', async () => {
  const here = await world();
  const { as, project } = here;
  const { outsider } = here.people;
  const email = `invited-${outsider.id}@example.org`;
  const { secret } = await setUp(await browserOf(here, outsider));
  const asked = await as('owner').post(`/projects/${project.id}/invitations`, { email, access_level: 30 });
  assert.deepEqual(asked.body, { status: 'success' });
  const [mail] = (await mailOf(here.services, [writeInvitation])).filter(({ to }) => to.address === email);
  const { pathname: invitation } = linksIn(mail!)[0]!;
  const confirmed_at = new Date().toISOString();
  await here.db.insertInto('emails').values({ user_id: outsider.id, email, confirmed_at }).execute();
  const levelOf = async () =>
    (await as('owner').get(`/projects/${project.id}/members/${outsider.id}`)).body.access_level;

  const browser = anonymousBrowser(here.url);
  const given = { login: outsider.username, password };
  const waiting = await browser.send(`${invitation}/accept`, 'accept', given);
  assert.deepEqual([waiting.status, waiting.to], [303, '/users/sign_in/two_factor']);
  assert.equal(await levelOf(), undefined);
  const elsewhere = await fetch(`${here.url}${invitation}/accept`, {
    method: 'POST',
    body: new URLSearchParams(given),
  });
  assert.equal(elsewhere.status, 403);
  assert.equal(await levelOf(), undefined);
  const right = await browser.send('/users/sign_in/two_factor', 'code', { code: codeOf(secret) });
  assert.deepEqual([right.status, right.to], [303, invitation]);
  assert.match((await browser.get(invitation)).html, new RegExp(`Accept as @${outsider.username}`));
  assert.equal((await browser.send(`${invitation}/accept`, 'accept')).to, `/${project.full_path}`);
  assert.equal(await levelOf(), 30);
});
