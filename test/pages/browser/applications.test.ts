/**
 * A program of others signs people in, in Chromium: whether a redirect after a form may lead to another server is decided by browsers alone, by `form-action` of
 * the page with the form.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import * as client from 'openid-client';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest, type Visitor } from '../../support/chromium.ts';
import { newApplication, relyingParty } from '../../support/oauth.ts';
import { type World, world } from '../../support/world.ts';

/** A program of others: `/` sends people to the server, and `/callback` says who has come back. @returns its address */
async function startProgram(here: World, t: TestContext): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // Another name, and so another site, than that of the server.
  const address = `http://localhost:${(server.address() as AddressInfo).port}`;
  const redirect_uri = `${address}/callback`;
  const { application_id, secret } = await newApplication(here, { redirect_uri });
  const configuration = await relyingParty(here, application_id, secret);
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier);
  const begins = client.buildAuthorizationUrl(configuration, {
    ...{ redirect_uri, scope: 'openid profile', state: 'state', code_challenge, code_challenge_method: 'S256' },
  });
  server.on('request', async (request, reply) => {
    if (request.url === '/')
      return reply.writeHead(302, { location: here.url + begins.pathname + begins.search }).end();
    if (!request.url!.startsWith('/callback')) return reply.writeHead(204).end();
    const checks = { pkceCodeVerifier, expectedState: 'state', idTokenExpected: true };
    const answer = await client.authorizationCodeGrant(configuration, new URL(address + request.url!), checks).then(
      (tokens) => `Hello ${tokens.claims()!.sub}`,
      (error: unknown) => `Refused: ${(error as { error: string }).error}`,
    );
    return reply.writeHead(200, { 'content-type': 'text/plain' }).end(answer);
  });
  return address;
}

/** Does what leads to the program in the end. */
async function reaches(visitor: Visitor, program: string, act: () => Promise<unknown>): Promise<string> {
  await Promise.all([visitor.page.waitForURL(`${program}/callback?**`), act()]);
  return visitor.text();
}

for (const javaScriptEnabled of [true, false])
  browserTest(
    `a program of others signs somebody in, who is asked once, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`,
    async (invite, t) => {
      const here = await world();
      const { reporter } = here.people;
      await browserOf(here, reporter);
      const program = await startProgram(here, t);
      const visitor = await invite(here.url, { javaScriptEnabled });
      const hello = `Hello ${reporter.id}`;
      const signIn = async () => {
        await visitor.page.goto(program);
        await visitor.fill({ 'Username or email address': reporter.username, Password: password });
      };
      await signIn();
      await visitor.press('Sign in');
      await visitor.sees('Orchard map');
      await visitor.sees(`${program}/callback`);
      assert.equal(
        await reaches(visitor, program, () => visitor.page.getByRole('button', { name: 'Authorize' }).click()),
        hello,
      );

      assert.equal(await reaches(visitor, program, () => visitor.page.goto(program).catch(() => {})), hello);
      await visitor.page.context().clearCookies();
      await signIn();
      assert.equal(
        await reaches(visitor, program, () =>
          visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click(),
        ),
        hello,
        'the form of the sign-in leads on',
      );
    },
  );

browserTest('who does not agree goes back, too', async (invite, t) => {
  const here = await world();
  const { guest } = here.people;
  await browserOf(here, guest);
  const program = await startProgram(here, t);
  const visitor = await invite(here.url);
  await visitor.signIn(guest.username, password);
  await visitor.page.goto(program);
  assert.equal(
    await reaches(visitor, program, () => visitor.page.getByRole('button', { name: 'Deny' }).click()),
    'Refused: access_denied',
  );
});
