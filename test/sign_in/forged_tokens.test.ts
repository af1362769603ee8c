/** Tokens, keys and documents of OpenID Connect that are wrong in one way each: nobody is signed in, and nothing is made. */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { before, test } from 'node:test';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { ownAddress } from '../support/address.ts';
import { anonymousBrowser } from '../support/browser.ts';
import { atFileEnd } from '../support/file_end.ts';
import {
  base64,
  callbackFor,
  type Forgery,
  type ForgingProvider,
  startForgingProvider,
} from '../support/forging_provider.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type World, world } from '../support/world.ts';

let provider: ForgingProvider;
let environment: Record<string, string>;
/** Each has its own discovery document in the memory of the server. */
const names = Array.from({ length: 19 }, (_, index) => `corp-${index}`);

before(async () => {
  provider = await startForgingProvider('coppice');
  atFileEnd(() => provider.stop());
  const common = { type: 'oidc', issuer: provider.issuer, client_id: 'coppice', block_auto_created: false };
  const file = await signInFile({
    providers: [
      ...names.map((name) => ({ ...common, name })),
      { ...common, name: 'picky', required_groups: ['staff'], uid_field: 'employee' },
    ],
  });
  environment = { ...(await ownAddress()), ...file };
});
const here = () => world({ environment });

async function signIn({ url }: World, name: string) {
  const browser = anonymousBrowser(url);
  const away = await browser.send(`/users/auth/${name}`, 'sign_in');
  if (away.status !== 303) return { ...away, browser };
  return {
    ...(await browser.get(`/users/auth/${name}/callback?${callbackFor(away.headers.get('location')!)}`)),
    browser,
  };
}

async function stateOf({ db }: World) {
  const { rows } = await sql`
    select (select count(*) from users) as users, (select count(*) from user_identities) as identities,
           (select count(*) from web_sessions) as sessions`.execute(db);
  return rows;
}

/** @returns the statuses of sign-ins with each forgery */
async function refused(at: World, forgeries: Record<string, Forgery>, nameFor = (_turn: number) => 'corp-0') {
  const state = await stateOf(at);
  const answers: [string, number][] = [];
  for (const [index, [what, forgery]] of Object.entries(forgeries).entries()) {
    provider.forgery = forgery;
    const { status, html, headers } = await signIn(at, nameFor(index));
    assert.match(html, /Sign-in with corp-\d+ failed|corp-\d+ does not answer/, what);
    assert.equal(
      headers.getSetCookie().some((set) => set.startsWith('coppice=')),
      false,
      what,
    );
    answers.push([what, status]);
  }
  provider.forgery = {};
  assert.deepEqual(await stateOf(at), state);
  return answers.filter(([, status]) => status !== 401);
}

const now = () => Math.floor(Date.now() / 1000);

test('a token with a claim that is wrong is refused', async () => {
  const at = await here();
  const claims: Record<string, Record<string, unknown>> = {
    'another issuer': { iss: 'https://evil.example.com' },
    'an issuer with a slash': { iss: `${provider.issuer}/` },
    'no issuer': { iss: undefined },
    'another audience': { aud: 'other' },
    'an audience in capitals': { aud: 'Coppice' },
    'several audiences': { aud: ['coppice', 'other'] },
    'several audiences for another party': { aud: ['coppice', 'other'], azp: 'other' },
    'another party': { azp: 'other' },
    'no audience': { aud: undefined },
    'an empty audience': { aud: [] },
    'over for 90 s': { exp: now() - 90 },
    'no end': { exp: undefined },
    'an end that is a text': { exp: String(now() + 300) },
    'issued in 90 s': { iat: now() + 90 },
    'issued in a hundred years': { iat: now() + 3_153_600_000 },
    'no time of issue': { iat: undefined },
    'not yet valid for 90 s': { nbf: now() + 90 },
    'another nonce': { nonce: 'other' },
    'no nonce': { nonce: undefined },
    nobody: { sub: undefined },
    'an empty name': { sub: '' },
    'a number': { sub: 7 },
    'a NUL': { sub: 'mallory\0' },
    'half a surrogate': { sub: '\ud800' },
    'a very long name': { sub: 'm'.repeat(5000) },
    'no address': { email: undefined },
    'an address that is a list': { email: ['m@id.example.com'] },
  };
  const forgeries = Object.fromEntries(Object.entries(claims).map(([what, changes]) => [what, { claims: changes }]));
  assert.deepEqual(await refused(at, forgeries), []);
});

test('a token that the provider has not signed is refused', async () => {
  const at = await here();
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = provider.key.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const parts = (claims: object, header: object) => `${base64(header)}.${base64(claims)}`;
  const hmac = (secret: string | Buffer) => (claims: object, header: object) => {
    const text = parts(claims, { ...header, alg: 'HS256' });
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const forgeries: Record<string, Forgery> = {
    'alg none': { sign: (claims, header) => `${parts(claims, { ...header, alg: 'none' })}.` },
    'alg None': { sign: (claims, header) => `${parts(claims, { ...header, alg: 'None' })}.` },
    'no alg': { sign: (claims) => `${parts(claims, { kid: 'one' })}.` },
    'no signature': { sign: (claims, header) => `${parts(claims, header)}.` },
    'the public key as a secret': { sign: hmac(pem) },
    'the client as a secret': { sign: hmac('coppice') },
    'an empty secret': { sign: hmac('') },
    'another key': {
      sign: (claims, header) =>
        new SignJWT({ ...claims }).setProtectedHeader(header as { alg: string }).sign(other.privateKey),
    },
    'a key of its own': {
      sign: async (claims, header) => {
        const jwk = other.publicKey.export({ format: 'jwk' });
        return new SignJWT({ ...claims })
          .setProtectedHeader({ ...header, alg: 'RS256', jwk } as never)
          .sign(other.privateKey);
      },
    },
    'an unknown kid': { header: { kid: 'two' } },
    'a signature of other claims': {
      sign: async (claims, header) => {
        const honest = await new SignJWT({ ...claims })
          .setProtectedHeader(header as { alg: string })
          .sign(provider.key.privateKey);
        return `${parts({ ...claims, sub: 'somebody else' }, header)}.${honest.split('.')[2]}`;
      },
    },
    'SHA-1': {
      sign: (claims, header) => {
        const text = parts(claims, { ...header, alg: 'RS1' });
        return `${text}.${signWith('sha1', Buffer.from(text), provider.key.privateKey).toString('base64url')}`;
      },
    },
    'something critical': {
      sign: (claims, header) =>
        new SignJWT({ ...claims })
          .setProtectedHeader({ ...header, alg: 'RS256', crit: ['b64'], b64: true } as never)
          .sign(provider.key.privateKey),
    },
    'no token': { token: { id_token: undefined } },
    'a token that is no text': { token: { id_token: 7 } },
    'no JWT': { sign: () => 'x.y.z' },
    'a person of another token': { claims: { name: undefined }, userinfo: { sub: 'somebody else' } },
    'userinfo without a person': { claims: { name: undefined }, userinfo: { sub: undefined } },
  };
  assert.deepEqual(await refused(at, forgeries), []);
  // Keys are fetched again at most once a minute.
  assert.equal(provider.asked.get('/keys'), 1);
});

test('a discovery document that is wrong is refused, and one that leads into the local network', async () => {
  const at = await here();
  const path = '/.well-known/openid-configuration';
  const forgeries: Record<string, Forgery> = {
    'another issuer': { discovery: { issuer: 'https://evil.example.com' } },
    'the issuer with a slash': { discovery: { issuer: `${provider.issuer}/` } },
    'no issuer': { discovery: { issuer: undefined } },
    'keys on this machine': { discovery: { jwks_uri: 'http://127.0.0.1:1/keys' } },
    'tokens in the network': { discovery: { token_endpoint: 'http://169.254.169.254/token' } },
    'keys of a file': { discovery: { jwks_uri: 'file:///etc/passwd' } },
    'a page of scripts': { discovery: { authorization_endpoint: 'javascript:alert(1)' } },
    'no authorization': { discovery: { authorization_endpoint: undefined } },
    'no JSON': { answers: { [path]: { body: '<html>' } } },
    'a list': { answers: { [path]: { body: '[]' } } },
    'a redirect': { answers: { [path]: { status: 302, headers: { location: 'http://127.0.0.1:1/' } } } },
    'not found': { answers: { [path]: { status: 404, body: '{}' } } },
  };
  const wrong = await refused(at, forgeries, (turn) => names[turn + 1]!);
  // A redirect is not followed, which is as if there were no answer.
  assert.deepEqual(wrong, [['a redirect', 503]]);
  const large = {
    [path]: {
      body: (function* () {
        for (let part = 0; part < 40; part++) yield ' '.repeat(65_536);
      })(),
    },
  };
  assert.deepEqual(
    await refused(
      at,
      { 'a long one': { answers: large }, 'a failure': { answers: { [path]: { status: 500 } } } },
      (turn) => names[turn + 14]!,
    ),
    [
      ['a long one', 503],
      ['a failure', 503],
    ],
  );
});

test('what is right signs in, a person without a group is not approved, and a number identifies one', async () => {
  const at = await here();
  assert.equal((await signIn(at, 'corp-0')).to, '/');
  provider.forgery = { claims: { groups: ['staff'], employee: 7, email: 'p@id.example.com' } };
  assert.equal((await signIn(at, 'picky')).to, '/');
  provider.forgery = { claims: { employee: undefined, groups: ['staff'] } };
  assert.equal((await signIn(at, 'picky')).status, 401);
  provider.forgery = { claims: { employee: 8 } };
  assert.equal((await signIn(at, 'picky')).status, 403);
  provider.forgery = {};
});
