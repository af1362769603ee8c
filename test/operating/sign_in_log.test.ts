/** What the operator reads of sign-ins that a provider refuses (docs/reference/sign_in_providers.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { anonymousBrowser } from '../support/browser.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { dataFolder, freePort, oneCall, serve } from './coppice.ts';

test('a refused sign-in leaves one line in the log, with its reason and nothing that was sent', async () => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const ldap = { type: 'ldap', encryption: 'plain', base: 'dc=example', hosts: ['127.0.0.1:1'] };
  const oidc = { type: 'oidc', name: 'corporate', issuer: 'http://127.0.0.1:1', client_id: 'coppice' };
  const file = await signInFile({ providers: [{ ...ldap, name: 'directory' }, oidc] });
  const server = await serve({
    COPPICE_LOG_LEVEL: 'warn',
    COPPICE_DATA: await dataFolder(),
    COPPICE_PORT: port,
    COPPICE_URL: url,
    ...file,
  });
  let logged = '';
  server.child.stdout!.on('data', (part) => {
    logged += part;
  });
  const lines = () => logged.split('\n').filter((line) => line.includes('sign_in_refused'));
  const browser = anonymousBrowser(url, oneCall);
  const given = { login: 'secretive-name', password: 'a secret word' };
  assert.equal((await browser.send('/users/auth/directory', 'sign_in', given)).status, 503);
  assert.equal((await browser.get('/users/auth/corporate/callback?code=secret-code&state=secret-state')).status, 401);
  for (const giveUpAt = Date.now() + 10_000; lines().length < 2 && Date.now() < giveUpAt; ) await sleep(20);
  const said = lines().map((line) => JSON.parse(line));
  assert.deepEqual(
    said.map(({ msg, provider, reason }) => [msg, provider, typeof reason]),
    [
      ['sign_in_refused', 'directory', 'string'],
      ['sign_in_refused', 'corporate', 'string'],
    ],
  );
  await server.stop();
  assert.equal(lines().length, 2);
  assert.doesNotMatch(lines().join(), /secret/);
});
