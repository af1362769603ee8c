import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, type Browser, browserOf } from '../../../../test/support/browser.ts';
import { clientOf } from '../../../../test/support/client.ts';
import { newApplication, oauthOf, type TestApplication } from '../../../../test/support/oauth.ts';
import { type World, world } from '../../../../test/support/world.ts';

interface Scene extends World {
  application: TestApplication;
  browser: Browser;
  begin(more?: Record<string, unknown>): Promise<Record<string, string>>;
  poll(device_code: string | undefined, more?: Record<string, unknown>): Promise<[number, string | undefined, string?]>;
  /** Lets the device ask again at once. */
  wait(): Promise<unknown>;
}

async function scene(): Promise<Scene> {
  const here = await world();
  const application = await newApplication(here, { confidential: false, scopes: 'read_user openid' });
  const browser = await browserOf(here, here.people.developer);
  const own = { client_id: application.application_id };
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  return {
    ...here,
    ...{ application, browser },
    begin: async (more) =>
      (await oauthOf(here).post('/authorize_device', { ...own, scope: 'read_user openid', ...more })).body,
    async poll(device_code, more) {
      const { status, body } = await oauthOf(here).post('/token', { grant_type, device_code, ...own, ...more });
      return status === 200 ? [status, undefined, body.access_token] : [status, body.error];
    },
    wait: () =>
      here.db
        .updateTable('oauth_device_codes')
        .set({ polled_at: null })
        .where('application_id', '=', application.id)
        .execute(),
  };
}

test('a device gets a token once a person has entered its code', async () => {
  const here = await scene();
  const { browser, begin, poll, wait, services } = here;
  const { device_code, user_code, ...rest } = await begin();
  const address = `${services.url}/oauth/device`;
  assert.match(user_code!, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.deepEqual(rest, {
    ...{ verification_uri: address, verification_uri_complete: `${address}?user_code=${user_code}` },
    ...{ expires_in: 300, interval: 5 },
  });
  assert.deepEqual(await poll(device_code), [400, 'authorization_pending']);
  assert.deepEqual(await poll(device_code), [400, 'slow_down']);
  const opened = await browser.get(`/oauth/device?user_code=${user_code}`);
  assert.ok(opened.html.includes(user_code!) && !opened.html.includes('read_user'), 'an address does nothing');
  const asked = await browser.send('/oauth/device', 'find', { user_code: user_code!.toLowerCase().replace('-', '') });
  for (const text of ['Orchard map', user_code!, 'Read your profile']) assert.ok(asked.html.includes(text), text);
  await wait();
  assert.deepEqual(await poll(device_code), [400, 'authorization_pending']);
  assert.equal((await browser.send('/oauth/device', 'authorize', { user_code: user_code! })).status, 200);
  await wait();
  const [status, , token] = await poll(device_code);
  assert.equal(status, 200);
  assert.equal((await clientOf(`${here.url}/api/v4`, token!).get('/user')).body.id, here.people.developer.id);
  await wait();
  assert.deepEqual(await poll(device_code), [400, 'invalid_grant'], 'once');
  const again = await browser.send('/oauth/device', 'authorize', { user_code: user_code! });
  assert.equal(again.status, 422);
});

test('a device is told that nobody agrees, or that it has waited too long', async () => {
  const here = await scene();
  const { browser, begin, poll, wait, db, application } = here;
  const denied = await begin();
  await browser.send('/oauth/device', 'deny', { user_code: denied.user_code! });
  assert.deepEqual(await poll(denied.device_code), [400, 'access_denied']);
  const late = await begin();
  await db
    .updateTable('oauth_device_codes')
    .set({ created_at: new Date(Date.now() - 301_000).toISOString() })
    .where('application_id', '=', application.id)
    .execute();
  assert.deepEqual(await poll(late.device_code), [400, 'expired_token']);
  assert.equal((await browser.send('/oauth/device', 'find', { user_code: late.user_code! })).status, 422);
  const other = await newApplication(here, { confidential: false });
  const own = await begin();
  await browser.send('/oauth/device', 'authorize', { user_code: own.user_code! });
  assert.deepEqual(await poll(own.device_code, { client_id: other.application_id }), [400, 'invalid_grant']);
  await wait();
  const answers = await Promise.all([1, 2, 3].map(() => poll(own.device_code)));
  assert.equal(answers.filter(([status]) => status === 200).length, 1, 'of several questions at once, one is answered');
  assert.deepEqual(await poll('unknown'), [400, 'invalid_grant']);
  assert.deepEqual(await poll(undefined), [400, 'invalid_grant']);
  for (const [more, error] of [
    [{ client_id: undefined }, 'invalid_client'],
    [{ client_id: 'unknown' }, 'invalid_client'],
    [{ scope: 'sudo' }, 'invalid_scope'],
    [{ scope: undefined }, 'invalid_scope'],
  ] as const)
    assert.equal((await begin(more)).error, error);
});

test('codes cannot be guessed, nor entered by a stranger', async () => {
  const here = await scene();
  const { browser, begin } = here;
  const { user_code } = await begin();
  const stranger = await anonymousBrowser(here.url).send('/oauth/device', 'authorize', { user_code: user_code! });
  assert.equal(stranger.status, 401);
  for (const form of ['find', 'authorize']) {
    for (const code of ['', 'BCDF', 'a\u0001', ...Array(7).fill('BCDF-GHJK')])
      assert.equal((await browser.send('/oauth/device', form, { user_code: code })).status, 422);
    const stopped = await browser.send('/oauth/device', form, { user_code: user_code! });
    assert.equal(stopped.status, 429);
    assert.ok(stopped.headers.get('retry-after'));
  }
});
