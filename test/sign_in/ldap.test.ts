/** Signing in with a directory: Debian's slapd, and one that is silent or answers garbage. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import { Attribute, Change } from 'ldapts';
import { checkActivePeople, checkEverybody } from '../../src/areas/people/providers/index.ts';
import { ownAddress } from '../support/address.ts';
import { allowSignIns, anonymousBrowser, type Browser, browserOf } from '../support/browser.ts';
import { browserTest } from '../support/chromium.ts';
import { atFileEnd } from '../support/file_end.ts';
import { gitClient } from '../support/git.ts';
import { performJob } from '../support/jobs.ts';
import { sent } from '../support/sent.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type Directory, directoryAdmin, directoryBase, startSlapd } from '../support/slapd.ts';
import { type World, world } from '../support/world.ts';

let directory: Directory | undefined;
let without: string | undefined;
let environment: Record<string, string>;
let silent: { host: string; sockets: Set<Socket> };

/** A server that accepts connections. @param answer what it sends on each */
async function dumb(answer?: Buffer): Promise<{ host: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
    if (answer) socket.on('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

const base = `ou=people,${directoryBase}`;
const dnOf = (uid: string) => `uid=${uid},${base}`;

before(async () => {
  const started = await startSlapd();
  if ('missing' in started) {
    without = started.missing;
    return;
  }
  directory = started;
  atFileEnd(() => started.stop());
  silent = await dumb();
  const garbage = await dumb(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const common = { type: 'ldap', ...directoryAdmin, base };
  const plain = { ...common, encryption: 'plain' };
  const file = await signInFile({
    providers: [
      {
        ...{ ...plain, name: 'directory', label: 'Directory', hosts: [started.host], trusts_email: true },
        ...{ group_base: `ou=groups,${directoryBase}`, admin_group: 'chiefs', external_groups: ['guests'] },
        user_filter: '(!(title=robot))',
      },
      { ...common, name: 'tls', hosts: [started.secure_host], encryption: 'simple_tls', ca_file: started.ca_file },
      {
        ...common,
        name: 'start_tls',
        hosts: [started.host.replace('127.0.0.1', 'localhost')],
        encryption: 'start_tls',
        ca_file: started.ca_file,
      },
      { ...common, name: 'untrusted', hosts: [started.secure_host], encryption: 'simple_tls' },
      { ...plain, name: 'silent', hosts: [silent.host], timeout: 1 },
      { ...plain, name: 'garbage', hosts: [garbage.host], timeout: 1 },
      { ...plain, name: 'closed', hosts: ['127.0.0.1:1'] },
      { ...plain, name: 'second', hosts: ['127.0.0.1:1', started.host] },
      { ...plain, name: 'refused', hosts: [started.host], password: 'wrong' },
    ],
  });
  environment = { ...(await ownAddress()), ...file };
});

/** A test with a directory, where there is one. */
const directoryTest = (name: string, tell: (at: World, there: Directory, t: TestContext) => Promise<void>) =>
  test(name, async (t) => {
    if (!directory) return t.skip(without);
    const at = await world({ environment });
    await allowSignIns(at);
    await tell(at, directory, t);
  });

let count = 0;
async function somebody({ admin }: Directory, more: Record<string, string | string[]> = {}) {
  const uid = `edsger-${++count}`;
  const person = { objectClass: 'inetOrgPerson', uid, cn: `Edsger ${count}`, sn: 'D', mail: `${uid}@id.example.com` };
  await admin.add(dnOf(uid), { ...person, userPassword: 'a word', ...more });
  return uid;
}

const send = (browser: Browser, provider: string, login: string, password: string) =>
  browser.send(`/users/auth/${provider}`, 'sign_in', { login, password, to: '/dashboard/todos' });
const signIn = ({ url }: World, provider: string, login: string, password = 'a word') =>
  send(anonymousBrowser(url), provider, login, password);
const userOf = async ({ as }: World, uid: string, provider = 'directory') =>
  (await sent(as('admin').get(`/users?extern_uid=${encodeURIComponent(dnOf(uid))}&provider=${provider}`)))[0];

directoryTest('a person of a directory signs in, with and without encryption', async (at, there) => {
  const uid = await somebody(there);
  const { status, to, html } = await signIn(at, 'directory', uid);
  assert.deepEqual([status, to], [303, '/dashboard/todos'], html);
  const user = await userOf(at, uid);
  assert.partialDeepStrictEqual(user, {
    username: uid,
    name: `Edsger ${count}`,
    email: `${uid}@id.example.com`,
    state: 'active',
    is_admin: false,
  });
  assert.notEqual(user.confirmed_at, null, 'the operator trusts its addresses');
  for (const provider of ['tls', 'start_tls', 'second']) {
    const other = await somebody(there);
    assert.equal((await signIn(at, provider, other)).status, 303, provider);
  }
  const page = await anonymousBrowser(at.url).get('/users/sign_in');
  assert.match(page.html, /Sign in with Directory/);
});

directoryTest('a wrong name or password is one answer, and is counted as for passwords', async (at, there) => {
  const uid = await somebody(there);
  await somebody(there, { uid: [`edsger-${count + 1}`, 'double'] });
  await somebody(there, { uid: [`edsger-${count + 1}`, 'double'] });
  const robot = await somebody(there, { title: 'robot' });
  const wrong: [string, string][] = [
    [uid, 'another word'],
    [uid, ''],
    ['nobody', 'a word'],
    ['double', 'a word'],
    [robot, 'a word'],
    ['', 'a word'],
    ['*', 'a word'],
    [`${uid})(uid=*`, 'a word'],
    ['*)(uid=*', 'a word'],
    [`${uid})(|(uid=*))`, 'a word'],
    [`${uid}\\2a`, 'a word'],
    ['\ud800', 'a word'],
    ['x'.repeat(100_000), 'a word'],
    [uid, 'x'.repeat(100_000)],
  ];
  const { rows: before } = { rows: await at.db.selectFrom('user_identities').selectAll().execute() };
  for (const [login, password] of wrong) {
    await allowSignIns(at);
    const { status, html } = await signIn(at, 'directory', login, password);
    if (login.length + password.length > 50_000) assert.ok([401, 413].includes(status));
    else {
      assert.equal(status, 401, login);
      assert.match(html, /The name or the password is wrong\./);
    }
  }
  assert.equal((await signIn(at, 'directory', `${uid}\0`)).status, 400);
  assert.deepEqual(await at.db.selectFrom('user_identities').selectAll().execute(), before);
  await allowSignIns(at);
  const browser = anonymousBrowser(at.url);
  const statuses = [];
  for (let turn = 0; turn < 11; turn++) statuses.push((await send(browser, 'directory', 'guessed', 'x')).status);
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429]);
});

directoryTest(
  'a directory that is down, silent or not trusted answers 503, and others do not wait',
  async (at, there) => {
    const uid = await somebody(there);
    for (const provider of ['silent', 'garbage', 'closed', 'untrusted', 'refused']) {
      const { status, html } = await signIn(at, provider, uid);
      assert.equal(status, 503, provider);
      assert.match(html, new RegExp(`${provider} does not answer\\. Try again later\\.`));
    }
    await allowSignIns(at);
    let over = 0;
    const held = Array.from({ length: 20 }, async (_, index) => {
      const { status } = await signIn(at, 'silent', `${uid}-${index}`);
      over++;
      return status;
    });
    while (silent.sockets.size < 20 && over === 0) await new Promise((resolve) => setImmediate(resolve));
    // These come back while the others are held.
    assert.equal((await signIn(at, 'directory', uid)).status, 303);
    assert.ok(silent.sockets.size > 0);
    assert.deepEqual([...new Set(await Promise.all(held))], [503]);
  },
);

directoryTest('groups make administrators and people who are external', async (at, there) => {
  const uid = await somebody(there);
  const members = async (cn: string, change: 'add' | 'delete') => {
    const dn = `cn=${cn},ou=groups,${directoryBase}`;
    if (change === 'delete') return there.admin.del(dn);
    await there.admin.add(dn, { objectClass: 'groupOfNames', cn, member: dnOf(uid) });
  };
  const seen = async () => {
    assert.equal((await signIn(at, 'directory', uid)).status, 303);
    const { is_admin, external } = await userOf(at, uid);
    return [is_admin, external];
  };
  assert.deepEqual(await seen(), [false, false]);
  await members('chiefs', 'add');
  await members('guests', 'add');
  assert.deepEqual(await seen(), [true, true]);
  await members('chiefs', 'delete');
  await members('guests', 'delete');
  assert.deepEqual(await seen(), [false, false]);
});

directoryTest(
  'somebody who is gone is blocked, and is not when there again; silence blocks nobody',
  async (at, there) => {
    const uid = await somebody(there);
    const browser = anonymousBrowser(at.url);
    assert.equal((await send(browser, 'directory', uid, 'a word')).status, 303);
    const { id } = await userOf(at, uid);
    const due = () =>
      at.db.updateTable('user_identities').set({ checked_at: null }).where('user_id', '=', id).execute();
    const stateOf = async () => (await userOf(at, uid)).state;
    // A directory that does not answer has said nothing.
    await at.db
      .insertInto('user_identities')
      .values({ user_id: id, provider: 'closed', extern_uid: dnOf(uid) })
      .execute();
    await performJob(at.services, checkEverybody, {});
    assert.equal(await stateOf(), 'active');
    await at.db.deleteFrom('user_identities').where('provider', '=', 'closed').execute();
    await there.admin.modify(dnOf(uid), [
      new Change({ operation: 'add', modification: new Attribute({ type: 'title', values: ['robot'] }) }),
    ]);
    await performJob(at.services, checkActivePeople, {});
    assert.equal(await stateOf(), 'active', 'asked about within the hour');
    await due();
    await performJob(at.services, checkActivePeople, {});
    assert.equal(await stateOf(), 'ldap_blocked');
    assert.equal((await browser.get('/-/user_settings/identities')).status, 302, 'the session has ended');
    assert.equal((await signIn(at, 'directory', uid)).status, 401);
    for (const change of ['block', 'unblock']) {
      const { status, body } = await at.as('admin').post(`/users/${id}/${change}`);
      assert.equal(status, 403);
      assert.match(body.message, /LDAP blocked users cannot be/);
    }
    await there.admin.modify(dnOf(uid), [
      new Change({ operation: 'delete', modification: new Attribute({ type: 'title', values: [] }) }),
    ]);
    assert.equal((await signIn(at, 'directory', uid)).status, 303);
    assert.equal(await stateOf(), 'active');
    await there.admin.del(dnOf(uid));
    await due();
    await performJob(at.services, checkEverybody, {});
    assert.equal(await stateOf(), 'ldap_blocked');
  },
);

directoryTest('the password of a directory counts for git and /oauth/token', async (at, there) => {
  const uid = await somebody(there);
  assert.equal((await signIn(at, 'directory', uid)).status, 303);
  const { id } = await userOf(at, uid);
  await sent(at.as('owner').post(`/groups/${at.group.id}/members`, { user_id: id, access_level: 30 }));
  const address = (word: string) =>
    `${at.url.replace('://', `://${uid}:${encodeURIComponent(word)}@`)}/${at.project.full_path}.git`;
  const { run } = await gitClient();
  assert.equal((await run(['ls-remote', address('a word')])).code, 0);
  assert.notEqual((await run(['ls-remote', address('another word')])).code, 0);
  const token = async (password: string) =>
    fetch(`${at.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: uid, password }),
    });
  assert.equal((await token('a word')).status, 200);
  assert.equal((await token('another word')).status, 400);
  assert.equal((await token('')).status, 400);
});

browserTest('a person signs in by the form of a directory', async (invite, t) => {
  if (!directory) return t.skip(without);
  const at = await world({ environment });
  await allowSignIns(at);
  const uid = await somebody(directory);
  const visitor = await invite(at.url, { javaScriptEnabled: false });
  await visitor.open('/users/sign_in?to=%2Fdashboard%2Ftodos');
  const form = visitor.page.locator('form[action="/users/auth/directory"]');
  await visitor.fill({ Name: uid, Password: 'another word' }, form);
  await visitor.press('Sign in with Directory', form);
  assert.deepEqual(visitor.refused(), [401]);
  await visitor.sees('The name or the password is wrong.');
  await visitor.fill({ Name: uid, Password: 'a word' });
  await visitor.press('Sign in with Directory');
  assert.equal(visitor.path, '/dashboard/todos');
});

directoryTest('somebody who is signed in links their account in a directory', async (at, there) => {
  const path = '/-/user_settings/identities';
  const [uid, other] = [await somebody(there), await somebody(there)];
  const person = await at.person();
  const browser = await browserOf(at, person);
  const link = (login: string, password: string) =>
    browser.send(path, 'link', { provider: 'directory', login, password });
  const identities = async () =>
    (await at.as('admin').get(`/users/${person.id}`)).body.identities.map(
      (each: { extern_uid: string }) => each.extern_uid,
    );
  assert.equal((await link(uid, 'another word')).status, 401);
  assert.equal((await link(uid, '')).status, 401);
  assert.deepEqual(await identities(), []);
  assert.equal((await signIn(at, 'directory', other)).status, 303);
  const taken = await link(other, 'a word');
  assert.equal(taken.status, 422);
  assert.match(taken.html, /This identity belongs to another account\./);
  assert.deepEqual(await identities(), []);
  assert.equal((await link(uid, 'a word')).to, path);
  assert.deepEqual(await identities(), [dnOf(uid)]);
  assert.equal((await userOf(at, uid)).id, person.id);
  assert.equal((await signIn(at, 'directory', uid)).status, 303);
});
