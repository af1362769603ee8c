/** The server is killed while a code is exchanged. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { anonymousBrowser } from '../support/browser.ts';
import { clientOf } from '../support/client.ts';
import { codeFor, exchangeOf, queryOf, type TestApplication } from '../support/oauth.ts';
import { sent } from '../support/sent.ts';
import { dataFolder, freePort, oneCall, serve } from './coppice.ts';

const password = 'a word that only tests pass';
/** How long after the request the server is killed, by round. */
const after_ms = [0, 2, 5, 10, 20, 40];

test('a server that is killed while a code is exchanged has given the token or not, and the person goes on', async () => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    ...{ COPPICE_DATA: await dataFolder(), COPPICE_PORT: port, COPPICE_URL: url, COPPICE_ROOT_PASSWORD: password },
  };
  let server = await serve(environment);
  const { body: root } = await server.root.get('/user');
  const application: TestApplication = await sent(
    server.root.post('/applications', {
      ...{ name: 'Map', redirect_uri: 'https://map.example.com/callback', scopes: 'read_user' },
    }),
  );
  const browser = anonymousBrowser(url, oneCall);
  assert.equal((await browser.send('/users/sign_in', 'sign_in', { login: 'root', password })).status, 303);
  const giveCode = () => codeFor(browser, queryOf(application, { scope: 'read_user' }), root.id);
  const exchange = (code: string) =>
    clientOf(`${url}/oauth`, undefined, oneCall).post('/token', exchangeOf(application, code));
  const works = async (token: string) =>
    assert.equal((await clientOf(`${url}/api/v4`, token, oneCall).get('/user')).status, 200);
  for (const wait_ms of after_ms) {
    const code = await giveCode();
    const asked = exchange(code).catch(() => undefined);
    await sleep(wait_ms);
    const ended = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    const [answer] = await Promise.all([asked, ended]);
    server = await serve(environment);
    if (answer?.status === 200) await works(answer.body.access_token);
    else {
      const again = await exchange(code);
      assert.ok(again.status === 200 || again.body.error === 'invalid_grant');
      if (again.status === 200) await works(again.body.access_token);
    }
    const { status, body } = await exchange(await giveCode());
    assert.equal(status, 200, 'the person agrees again, in the same session');
    await works(body.access_token);
  }
  await server.stop();
});
