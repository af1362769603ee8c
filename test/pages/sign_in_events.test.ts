/** Audit events of signing in and out (docs/reference/audit_events.md#events). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { anonymousBrowser, browserOf, password } from '../support/browser.ts';
import { type World, world } from '../support/world.ts';

/** The names of events about a user since an event, oldest first, with their authors. */
async function eventsOf({ db }: World, user_id: number, after = 0) {
  const rows = await db
    .selectFrom('audit_events')
    .select(['id', 'event_name', 'author_id'])
    .where('entity_type', '=', 'User')
    .where('entity_id', '=', user_id)
    .where('id', '>', after)
    .orderBy('id')
    .execute();
  return rows;
}

const page = '/-/user_settings/two_factor';

test('each step of signing in leaves an event, also one that is refused', async () => {
  const here = await world();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const named = async (after: number) =>
    (await eventsOf(here, developer.id, after)).map(({ event_name, author_id }) => [
      event_name,
      author_id === developer.id ? 'self' : author_id,
    ]);
  const last = async () => (await eventsOf(here, developer.id)).at(-1)?.id ?? 0;
  assert.deepEqual((await named(0)).at(-1), ['authenticated_with_password', 'self']);
  let since = await last();
  await anonymousBrowser(here.url).send('/users/sign_in', 'sign_in', { login: developer.username, password: 'wrong' });
  assert.deepEqual(await named(since), [['login_failed_with_standard_authentication', -1]]);
  await browser.send(page, 'set_up');
  const secret = /Secret: <code>([A-Z2-7 ]+)</.exec((await browser.get(page)).html)![1]!.replaceAll(' ', '');
  const codeAt = (ahead: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + ahead * 30_000 });
  since = await last();
  await browser.send(page, 'enable', { code: codeAt(-1) });
  assert.deepEqual(await named(since), [['user_enable_two_factor', 'self']]);
  since = await last();
  const other = anonymousBrowser(here.url);
  await other.send('/users/sign_in', 'sign_in', { login: developer.username, password });
  await other.send('/users/sign_in/two_factor', 'code', { code: '000000' });
  await other.send('/users/sign_in/two_factor', 'code', { code: codeAt(0) });
  await other.send('/users/sign_out', 'sign_out');
  assert.deepEqual(await named(since), [
    ['login_failed_with_otp_authentication', -1],
    ['authenticated_with_two_factor', 'self'],
    ['user_signed_out', 'self'],
  ]);
  since = await last();
  await browser.send(page, 'remove');
  assert.deepEqual(await named(since), [['user_disable_two_factor', 'self']]);
});

test('the first attempt beyond what an account allows says that it is locked, with passwords and with codes', async () => {
  const here = await world();
  const { reporter } = here.people;
  const browser = await browserOf(here, reporter);
  const locks = async () =>
    (await eventsOf(here, reporter.id)).flatMap(({ event_name, author_id }) =>
      event_name === 'user_access_locked' ? [author_id] : [],
    );
  const guess = (given: string) =>
    anonymousBrowser(here.url).send('/users/sign_in', 'sign_in', { login: reporter.username, password: given });
  for (let count = 0; count < 10; count++) await guess(`wrong ${count}`);
  assert.deepEqual(await locks(), []);
  for (let count = 0; count < 3; count++) assert.equal((await guess('wrong')).status, 429);
  assert.deepEqual(await locks(), [-1]);
  await here.db.deleteFrom('request_counts').execute();
  await browser.send(page, 'set_up');
  const secret = /Secret: <code>([A-Z2-7 ]+)</.exec((await browser.get(page)).html)![1]!.replaceAll(' ', '');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await browser.send(page, 'enable', { code });
  const other = anonymousBrowser(here.url);
  await other.send('/users/sign_in', 'sign_in', { login: reporter.username, password });
  for (let count = 0; count < 12; count++) await other.send('/users/sign_in/two_factor', 'code', { code: 'wrong' });
  assert.deepEqual(await locks(), [-1, -1]);
});

test('a name that no account has is not kept', async () => {
  const here = await world();
  const typed = `nobody-${here.project.id}`;
  await anonymousBrowser(here.url).send('/users/sign_in', 'sign_in', { login: typed, password: 'wrong' });
  const kept = await here.db.selectFrom('audit_events').selectAll().orderBy('id', 'desc').limit(5).execute();
  assert.ok(!JSON.stringify(kept).includes(typed));
});
