/** Passkeys and security keys in a real browser with a virtual authenticator (docs/reference/second_factors.md#keys). */
import assert from 'node:assert/strict';
import type { CDPSession } from 'playwright-core';
import { tellOwner } from '../../../src/areas/people/account_notices/index.ts';
import { ownAddress } from '../../support/address.ts';
import { password } from '../../support/browser.ts';
import { browserTest, type Invite, type Visitor } from '../../support/chromium.ts';
import { mailOf } from '../../support/mail.ts';
import { type World, world } from '../../support/world.ts';

const page = '/-/user_settings/two_factor';

/** A device that holds keys, as browsers know it. */
interface Device {
  cdp: CDPSession;
  authenticatorId: string;
}

async function deviceOf(visitor: Visitor): Promise<Device> {
  const cdp = await visitor.page.context().newCDPSession(visitor.page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return { cdp, authenticatorId };
}

/** All tests of this file share a server at a host name, where browsers allow keys. */
const environment = ownAddress('localhost');

async function worldAtName(): Promise<World & { name: string }> {
  const { COPPICE_URL: name } = await environment;
  return { ...(await world({ environment: await environment })), name };
}

/** A visitor who has signed in, with a device. */
async function arrive(here: World & { name: string }, invite: Invite, options: object = {}) {
  const { developer } = here.people;
  assert.equal((await here.as('admin').put(`/users/${developer.id}`, { password })).status, 200);
  const visitor = await invite(here.name, options);
  await visitor.signIn(developer.username, password);
  return visitor;
}

async function addKey(visitor: Visitor, name: string, used: RegExp): Promise<void> {
  await visitor.open(page);
  await visitor.page.getByLabel('Name', { exact: true }).fill(name);
  const choice = visitor.page.getByLabel('Used', { exact: true });
  await choice.selectOption({
    label: (await choice.locator('option').allInnerTexts()).find((text) => used.test(text))!,
  });
  await visitor.press('Add the key');
}

const signOut = (visitor: Visitor) => visitor.page.context().clearCookies({ name: 'coppice' });

browserTest('a passkey signs in without a name and a password', async (invite) => {
  const here = await worldAtName();
  const visitor = await arrive(here, invite);
  await deviceOf(visitor);
  await addKey(visitor, 'Laptop', /passkey/);
  await visitor.sees('Recovery codes');
  await visitor.open(page);
  await visitor.sees(/Laptop\s+Passkey/);
  await signOut(visitor);
  await visitor.open('/users/sign_in?to=/dashboard/todos');
  await visitor.press('Use a passkey');
  assert.equal(visitor.path, '/dashboard/todos');
});

browserTest('a security key comes after the password, and a copy of it is disabled', async (invite) => {
  const here = await worldAtName();
  const { developer } = here.people;
  const visitor = await arrive(here, invite);
  const device = await deviceOf(visitor);
  await addKey(visitor, 'Key ring', /second factor/);
  const signIn = async () => {
    await signOut(visitor);
    await visitor.open('/users/sign_in');
    await visitor.fill({ 'Username or email address': developer.username, Password: password });
    await visitor.press('Sign in');
    assert.equal(visitor.path, '/users/sign_in/two_factor');
    await visitor.press('Use a key');
  };
  await signIn();
  assert.equal(visitor.path, '/');
  await here.db
    .updateTable('webauthn_credentials')
    .set({ counter: 1000 })
    .where('user_id', '=', developer.id)
    .execute();
  await mailOf(here.services, [tellOwner]);
  await signIn();
  await visitor.sees('The key was not accepted.');
  assert.deepEqual(visitor.refused(), [422]);
  const mails = await mailOf(here.services, [tellOwner]);
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['A security key was disabled'],
  );
  await visitor.open('/users/sign_in/two_factor');
  assert.equal(await visitor.page.getByRole('button', { name: 'Use a key' }).count(), 0, 'a code is the way left');
  assert.ok(device.authenticatorId);
});

browserTest('an answer to a challenge counts once, for its browser and its purpose', async (invite) => {
  const here = await worldAtName();
  const visitor = await arrive(here, invite);
  await deviceOf(visitor);
  await addKey(visitor, 'Laptop', /passkey/);
  await signOut(visitor);
  await visitor.open('/users/sign_in');
  const sent = visitor.page.waitForRequest((request) => request.method() === 'POST');
  await visitor.press('Use a passkey');
  const body = (await sent).postData()!;
  const cookies = await visitor.page.context().cookies();
  const browser = cookies.find(({ name }) => name === 'coppice-browser')!.value;
  const replay = (cookie: string, change: (fields: URLSearchParams) => void = () => {}) => {
    const fields = new URLSearchParams(body);
    change(fields);
    return fetch(`${here.name}/users/sign_in`, {
      method: 'POST',
      redirect: 'manual',
      body: fields,
      headers: { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html' },
    }).then(({ status, headers }) => [status, headers.getSetCookie().some((set) => /^coppice=\S/.test(set))]);
  };
  assert.deepEqual(await replay(`coppice-browser=${browser}`), [422, false], 'it was answered');
  assert.deepEqual(await replay('coppice-browser=AAAAAAAAAAAAAAAAAAAAAA'), [422, false], 'it is of another browser');
  const garbage = (text: string) => replay(`coppice-browser=${browser}`, (fields) => fields.set('answer', text));
  for (const text of ['', 'null', '[]', '{}', '{"id":[]}', '{"id":"AA"}', 'x'.repeat(30_000)])
    assert.deepEqual(await garbage(text), [422, false], text.slice(0, 20));
});

browserTest('a form for keys says that it needs JavaScript', async (invite) => {
  const here = await worldAtName();
  const visitor = await arrive(here, invite, { javaScriptEnabled: false });
  await visitor.open(page);
  await visitor.sees('Keys need JavaScript, which is off in this browser.');
});
