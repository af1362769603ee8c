/** What the end of an account, of an application or of a group ends: every way in, for every ending. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { removeGroup } from '../../src/areas/people/namespaces/index.ts';
import { removeUser } from '../../src/areas/people/users/index.ts';
import { anonymousBrowser, type Browser, browserOf, password } from '../support/browser.ts';
import { clientOf } from '../support/client.ts';
import { performQueued } from '../support/jobs.ts';
import { codeFor, exchangeOf, newApplication, oauthOf, queryOf, type TestApplication } from '../support/oauth.ts';
import type { Person } from '../support/populate.ts';
import { sent } from '../support/sent.ts';
import { type World, world } from '../support/world.ts';

const removals = [removeUser, removeGroup];
const factors = '/-/user_settings/two_factor';

interface WayIn {
  /** Whether it still leads in. A code that counts once is asked for one that was not used. */
  opens(): Promise<boolean>;
}

const apiOf = ({ url }: World, token: string) => clientOf(`${url}/api/v4`, token);
const opensWith = (here: World, token: string): WayIn => ({
  opens: async () => (await apiOf(here, token).get('/user')).status === 200,
});

/** What somebody has let an application do. */
async function grantedTo(here: World, application: TestApplication, person: Person, browser: Browser) {
  const oauth = oauthOf(here);
  const code = () => codeFor(browser, queryOf(application, { scope: 'api' }), person.id);
  const tokens = async () => sent(oauth.post('/token', exchangeOf(application, await code())));
  const own = { client_id: application.application_id, client_secret: application.secret };
  const [access, refresh, unused] = [await tokens(), await tokens(), await code()];
  const device = await sent(oauth.post('/authorize_device', { ...own, scope: 'api' }));
  await browser.send('/oauth/device', 'authorize', { user_code: device.user_code });
  const exchanges = (given: object): WayIn => ({
    opens: async () => (await oauth.post('/token', { ...own, ...given })).status === 200,
  });
  return {
    'access token': opensWith(here, access.access_token),
    'refresh token': exchanges({ grant_type: 'refresh_token', refresh_token: refresh.refresh_token }),
    'code of an application': exchanges(exchangeOf(application, unused)),
    'code of a device': exchanges({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    }),
  };
}

/** Every way in that a person has. */
async function waysInOf(here: World, person: Person): Promise<Record<string, WayIn>> {
  const { as, url } = here;
  const browser = await browserOf(here, person);
  const application = await newApplication(here);
  const granted = await grantedTo(here, application, person, browser);
  const token = (path: string) => sent(as('admin').post(`/users/${person.id}/${path}`, { name: 'x', scopes: ['api'] }));
  const [personal, impersonation] = [await token('personal_access_tokens'), await token('impersonation_tokens')];
  const byPassword: WayIn = {
    opens: async () =>
      (await oauthOf(here).post('/token', { grant_type: 'password', username: person.username, password })).status ===
      200,
  };
  assert.ok(await byPassword.opens());
  await browser.send(factors, 'set_up');
  const secret = /Secret: <code>([A-Z2-7 ]+)</.exec((await browser.get(factors)).html)![1]!.replaceAll(' ', '');
  const codeAt = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
  assert.equal((await browser.send(factors, 'enable', { code: codeAt(-1) })).status, 200);
  const waiting = anonymousBrowser(url);
  const { to } = await waiting.send('/users/sign_in', 'sign_in', { login: person.username, password });
  assert.equal(to, '/users/sign_in/two_factor');
  return {
    ...granted,
    'personal access token': opensWith(here, personal.token),
    'impersonation token': opensWith(here, impersonation.token),
    session: { opens: async () => (await browser.get(factors)).status === 200 },
    'sign-in that waits for its second factor': {
      opens: async () => {
        await waiting.send('/users/sign_in/two_factor', 'code', { code: codeAt(0) });
        return (await waiting.get(factors)).status === 200;
      },
    },
    'name and password': {
      opens: async () => {
        const other = anonymousBrowser(url);
        return (await other.send('/users/sign_in', 'sign_in', { login: person.username, password })).status === 303;
      },
    },
  };
}

const openAmong = async (ways: Record<string, WayIn>): Promise<string[]> => {
  const open: string[] = [];
  for (const [name, { opens }] of Object.entries(ways)) if (await opens()) open.push(name);
  return open;
};

const endings: Record<string, (here: World, person: Person) => Promise<unknown>> = {
  'is blocked': ({ as }, { id }) => sent(as('admin').post(`/users/${id}/block`)),
  'is banned': ({ as }, { id }) => sent(as('admin').post(`/users/${id}/ban`)),
  'has left the directory': ({ db }, { id }) =>
    db.updateTable('users').set({ state: 'ldap_blocked' }).where('id', '=', id).execute(),
  'is deleted': async ({ as, services }, { id }) => {
    assert.equal((await as('admin').delete(`/users/${id}`)).status, 204);
    await performQueued(services, removals);
  },
};

test('each way in opens while nothing has ended', async () => {
  const here = await world();
  const ways = await waysInOf(here, await here.person());
  assert.deepEqual(await openAmong(ways), Object.keys(ways));
});

for (const [ending, end] of Object.entries(endings))
  test(`nothing leads into an account that ${ending}`, async () => {
    const here = await world();
    const person = await here.person();
    const ways = await waysInOf(here, person);
    await end(here, person);
    assert.deepEqual(await openAmong(ways), []);
  });

test('the end of an application, or of its owner, ends what people have let it do', async () => {
  const here = await world();
  const { as, db, services } = here;
  const owned = async (owner: { group_id?: number; user_id?: number }) => {
    const application = await newApplication(here);
    await db.updateTable('oauth_applications').set(owner).where('id', '=', application.id).execute();
    return application;
  };
  const group = await sent(as('owner').post('/groups', { name: 'Mine', path: 'mine', parent_id: here.group.id }));
  const removeGroupNow = async () => {
    await as('admin').delete(`/groups/${group.id}`);
    const { full_path } = (await as('admin').get(`/groups/${group.id}`)).body;
    return as('admin').delete(`/groups/${group.id}`, { permanently_remove: true, full_path });
  };
  const maker = await here.person();
  const person = await here.person();
  const browser = await browserOf(here, person);
  for (const [application, end] of [
    [await newApplication(here), ({ id }: TestApplication) => as('admin').delete(`/applications/${id}`)],
    [await owned({ user_id: maker.id }), () => as('admin').delete(`/users/${maker.id}`)],
    [await owned({ group_id: group.id }), removeGroupNow],
  ] as const) {
    const ways = await grantedTo(here, application, person, browser);
    const ended = await end(application);
    assert.ok(ended.status < 300, JSON.stringify(ended.body));
    await performQueued(services, removals);
    assert.deepEqual(await openAmong(ways), []);
  }
});
