/** The server is killed while a second factor is enabled. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret, TOTP } from 'otpauth';
import { anonymousBrowser } from '../support/browser.ts';
import { sent } from '../support/sent.ts';
import { dataFolder, freePort, oneCall, serve } from './coppice.ts';

const password = 'a word that only tests pass';
const factors = '/-/user_settings/two_factor';
/** How long after the request the server is killed, by round. */
const after_ms = [0, 3, 6, 12, 25, 50];

test('a server that is killed while a factor is enabled leaves nobody who can neither sign in nor finish', async () => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const environment = { COPPICE_DATA: await dataFolder(), COPPICE_PORT: port, COPPICE_URL: url };
  let server = await serve(environment);
  for (const wait_ms of after_ms) {
    const username = `rowan${wait_ms}`;
    await sent(
      server.root.post('/users', {
        ...{ username, name: 'Rowan', email: `${username}@example.com`, password, skip_confirmation: true },
      }),
    );
    const browser = anonymousBrowser(url, oneCall);
    const signIn = () => browser.send('/users/sign_in', 'sign_in', { login: username, password, to: factors });
    assert.equal((await signIn()).to, factors);
    await browser.send(factors, 'set_up');
    const secret = /Secret: <code>([A-Z2-7 ]+)</.exec((await browser.get(factors)).html)![1]!.replaceAll(' ', '');
    const code = (steps: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
    const asked = browser.send(factors, 'enable', { code: code(-1) }).catch(() => undefined);
    await sleep(wait_ms);
    const ended = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    const [answer] = await Promise.all([asked, ended]);
    server = await serve(environment);

    const { to } = await signIn();
    const isEnabled = to === '/users/sign_in/two_factor';
    if (answer?.status === 200) assert.ok(isEnabled, 'what was acknowledged is enabled');
    if (isEnabled) assert.equal((await browser.send(to, 'code', { code: code(0) })).to, factors);
    else assert.equal((await browser.send(factors, 'enable', { code: code(0) })).status, 200);
    // The factor holds, whichever way it came to be.
    const { body } = await server.root.get('/users', { username });
    assert.equal((await server.root.get(`/users/${body[0].id}`)).body.two_factor_enabled, true);
  }
  await server.stop();
});
