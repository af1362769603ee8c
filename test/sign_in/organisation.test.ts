/** A new organisation: the first start, its directory, second factors for everybody, and the first report on who did what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { allowSignIns, anonymousBrowser, type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { directoryAdmin, directoryBase, startSlapd } from '../support/slapd.ts';
import { world } from '../support/world.ts';

const factors = '/-/user_settings/two_factor';

/** Sets an authenticator up. @returns its codes, by time steps from now */
async function setUp(browser: Browser): Promise<(ahead: number) => string> {
  assert.equal((await browser.send(factors, 'set_up')).to, factors);
  const secret = /Secret: <code>([A-Z2-7 ]+)</.exec((await browser.get(factors)).html)![1]!.replaceAll(' ', '');
  const codeAt = (ahead: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + ahead * 30_000 });
  assert.match((await browser.send(factors, 'enable', { code: codeAt(-1) })).html, /Recovery codes/);
  return codeAt;
}

test('an administrator connects a directory, demands second factors, and reads who did what', async (t) => {
  const directory = await startSlapd();
  if ('missing' in directory) return t.skip(directory.missing);
  t.after(() => directory.stop());
  const base = `ou=people,${directoryBase}`;
  const person = { objectClass: 'inetOrgPerson', uid: 'grace', cn: 'Grace', sn: 'H', mail: 'grace@id.example.com' };
  await directory.admin.add(`uid=grace,${base}`, { ...person, userPassword: 'a word' });
  const provider = { type: 'ldap', name: 'directory', label: 'Our directory', ...directoryAdmin, base };
  const file = { ...provider, hosts: [directory.host], encryption: 'plain', trusts_email: true };
  const here = await world({ environment: await signInFile({ providers: [file] }) });
  await allowSignIns(here);

  // The administrator has their own factor first: the demand is for everybody, at once.
  const admin = await browserOf(here, here.people.admin);
  await setUp(admin);
  const settings = '/admin/application_settings/general';
  const given = fieldsIn((await admin.get(settings)).html, 'sign_in');
  const demanded = { ...given, require_two_factor_authentication: 'true', two_factor_grace_period: '0' };
  t.after(() =>
    here.db
      .updateTable('application_settings')
      .set({ require_two_factor_authentication: false, two_factor_grace_period: 48 })
      .execute(),
  );
  const saved = await admin.send(settings, 'sign_in', demanded);
  assert.equal(saved.status, 303, saved.html);

  // A person of the directory can do nothing before they have a factor, and signs in with it afterwards.
  const grace = anonymousBrowser(here.url);
  assert.match((await grace.get('/users/sign_in')).html, /Our directory/);
  const signIn = (browser: Browser) =>
    browser.send('/users/auth/directory', 'sign_in', { login: 'grace', password: 'a word', to: '/dashboard/todos' });
  assert.equal((await signIn(grace)).to, '/dashboard/todos');
  assert.equal((await grace.get('/dashboard/todos')).to, factors);
  const codeAt = await setUp(grace);
  assert.equal((await grace.get('/dashboard/todos')).status, 200);
  const again = anonymousBrowser(here.url);
  assert.equal((await signIn(again)).to, '/users/sign_in/two_factor');
  const code = await again.send('/users/sign_in/two_factor', 'code', { code: codeAt(0) });
  assert.deepEqual([code.status, code.to], [303, '/dashboard/todos']);

  // The report says all of it.
  const [{ id }] = (await here.as('admin').get('/users?username=grace')).body;
  const { body: events } = await here.as('admin').get(`/audit_events?entity_type=User&entity_id=${id}&per_page=100`);
  const names = (events as { event_name: string }[]).map(({ event_name }) => event_name);
  assert.deepEqual(names.toReversed(), [
    'user_created',
    'identity_created',
    'authenticated_with_ldap',
    'user_enable_two_factor',
    'authenticated_with_ldap',
    'authenticated_with_two_factor',
  ]);
  const report = await admin.get('/admin/audit_logs');
  assert.equal(report.status, 200);
  for (const name of ['application_setting_updated', 'authenticated_with_two_factor'])
    assert.ok(report.html.includes(name), name);
});
