/** Signing in through a foreign SAML identity provider. */
import assert from 'node:assert/strict';
import { createPublicKey, randomUUID, sign } from 'node:crypto';
import { before, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { sql } from 'kysely';
import { ownAddress } from '../support/address.ts';
import { anonymousBrowser, type Browser } from '../support/browser.ts';
import { rsaSigned } from '../support/certificate.ts';
import { browserTest } from '../support/chromium.ts';
import { atFileEnd } from '../support/file_end.ts';
import { requestIn, type SamlPeer, startSamlProvider } from '../support/saml_provider.ts';
import { sent } from '../support/sent.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type World, world } from '../support/world.ts';

let peer: SamlPeer;
let environment: Record<string, string>;
const [, own] = rsaSigned;

before(async () => {
  peer = await startSamlProvider();
  atFileEnd(() => peer.stop());
  const common = { type: 'saml', block_auto_created: false };
  const known = { idp_sso_url: peer.sso_url, idp_cert: peer.cert, idp_entity_id: peer.issuer };
  const file = await signInFile({
    providers: [
      { ...common, ...known, name: 'sso', label: 'Single sign-on' },
      { ...common, name: 'metadata', idp_metadata_url: `${peer.issuer}/metadata`, trusts_email: true },
      { ...common, ...known, name: 'response', want_assertions_signed: false },
      { ...common, ...known, name: 'initiated', allow_idp_initiated: true },
      {
        ...common,
        ...known,
        name: 'employee',
        uid_attribute: 'employee',
        required_groups: ['staff'],
        admin_groups: ['chiefs'],
      },
      { ...common, ...known, name: 'sealed', private_key: own.key, certificate: own.cert, sp_entity_id: 'urn:forge' },
    ],
  });
  environment = { ...(await ownAddress()), ...file };
});

const here = () => world({ environment });
const userWith = async ({ as }: World, provider: string, uid: string) =>
  (await sent(as('admin').get(`/users?extern_uid=${encodeURIComponent(uid)}&provider=${provider}`)))[0];

let count = 0;
function somebody(attributes: Record<string, unknown> = {}): string {
  const name_id = `person-${++count}`;
  peer.who = {
    name_id,
    attributes: {
      email: `saml-${count}@id.example.com`,
      displayName: `Grace ${count}`,
      uid: `grace-${count}`,
      ...attributes,
    },
  };
  return name_id;
}

/** Sends a message to the address of a provider, as a page of another site does. */
async function deliver({ url }: World, provider: string, response: string, relay = ''): Promise<string> {
  const answer = await fetch(`${url}/users/auth/${provider}/callback`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'cross-site', origin: peer.issuer },
    body: new URLSearchParams({ SAMLResponse: response, RelayState: relay }),
  });
  assert.equal(answer.status, 303);
  assert.deepEqual(answer.headers.getSetCookie(), []);
  return answer.headers.get('location')!;
}

const begin = async (browser: Browser, provider: string, fields = {}): Promise<string> => {
  const away = await browser.send(`/users/auth/${provider}`, 'sign_in', fields);
  assert.equal(away.status, 303, away.html);
  return away.headers.get('location')!;
};

async function signIn(
  at: World,
  provider: string,
  change: (response: string, away: string) => string | Promise<string> = (response) => response,
  fields = {},
) {
  const browser = anonymousBrowser(at.url);
  const away = await begin(browser, provider, fields);
  return browser.get(await deliver(at, provider, await change(await peer.answer(away), away)));
}

async function stateOf({ db }: World) {
  const { rows } = await sql`
    select (select count(*) from users) as users, (select count(*) from user_identities) as identities,
           (select count(*) from web_sessions) as sessions`.execute(db);
  return rows;
}

test('a person signs in, and the account follows what the assertion states', async () => {
  const at = await here();
  const name_id = somebody();
  const { status, to, html } = await signIn(at, 'sso', undefined, { to: '/dashboard/todos' });
  assert.deepEqual([status, to], [302, '/dashboard/todos'], html);
  const user = await userWith(at, 'sso', name_id);
  assert.partialDeepStrictEqual(user, {
    username: `grace-${count}`,
    name: `Grace ${count}`,
    email: `saml-${count}@id.example.com`,
    confirmed_at: null,
  });
  assert.equal((await signIn(at, 'sso')).to, '/');
  const trusted = somebody({ displayName: undefined, firstName: 'Grace', lastName: 'Hopper' });
  assert.equal((await signIn(at, 'metadata')).to, '/');
  const second = await userWith(at, 'metadata', trusted);
  assert.equal(second.name, 'Grace Hopper');
  assert.notEqual(second.confirmed_at, null, 'the operator trusts its addresses');
});

test('a signed response counts where the operator says so, and an encrypted assertion with the key', async () => {
  const at = await here();
  somebody();
  const signed = { signResponse: true, signAssertion: false };
  const withOptions = (options: object) => (_response: string, away: string) => peer.answer(away, options);
  assert.equal((await signIn(at, 'response', withOptions(signed))).to, '/');
  assert.equal((await signIn(at, 'response')).to, '/');
  somebody();
  assert.equal((await signIn(at, 'sso', withOptions(signed))).status, 401);
  assert.equal((await signIn(at, 'sso', withOptions({ signResponse: true }))).to, '/');
  somebody();
  const encryptionPublicKey = createPublicKey(own.cert).export({ format: 'pem', type: 'spki' }).toString();
  const encrypted = {
    encryptionPublicKey,
    encryptionCert: own.cert,
    encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  };
  assert.equal((await signIn(at, 'sealed', withOptions(encrypted))).to, '/');
  const weak = { ...encrypted, signatureAlgorithm: 'rsa-sha1', digestAlgorithm: 'sha1' };
  assert.equal((await signIn(at, 'sealed', withOptions(weak))).status, 401);
  assert.equal((await signIn(at, 'sso', withOptions(encrypted))).status, 401);
  const request = await begin(anonymousBrowser(at.url), 'sealed');
  assert.ok(new URL(request).searchParams.get('Signature'));
  assert.match(requestIn(request).xml, /urn:forge/);
});

test('groups and an attribute identify and approve a person', async () => {
  const at = await here();
  somebody({ employee: '7', groups: ['staff', 'chiefs'] });
  assert.equal((await signIn(at, 'employee')).to, '/');
  assert.equal((await userWith(at, 'employee', '7')).is_admin, true);
  somebody({ employee: '7', groups: 'staff' });
  assert.equal((await signIn(at, 'employee')).to, '/');
  assert.equal((await userWith(at, 'employee', '7')).is_admin, false);
  somebody({ employee: '8' });
  assert.equal((await signIn(at, 'employee')).status, 403);
  somebody({ groups: ['staff'] });
  assert.equal((await signIn(at, 'employee')).status, 401, 'no attribute');
  somebody({ employee: ['7', '8'], groups: ['staff'] });
  assert.equal((await signIn(at, 'employee')).status, 401, 'two people');
});

test('a message counts once, in the browser that began it, and for its request', async () => {
  const at = await here();
  const name_id = somebody();
  const state = await stateOf(at);
  const mine = anonymousBrowser(at.url);
  const away = await begin(mine, 'sso');
  const response = await peer.answer(away);
  // Login CSRF: the message in another browser.
  assert.equal((await anonymousBrowser(at.url).get(await deliver(at, 'sso', response))).status, 401);
  const other = anonymousBrowser(at.url);
  await begin(other, 'sso');
  assert.equal((await other.get(await deliver(at, 'sso', response))).status, 401);
  // Mix-up: at the address of another provider.
  const mixed = anonymousBrowser(at.url);
  await begin(mixed, 'response');
  assert.equal((await mixed.get(await deliver(at, 'response', response))).status, 401);
  assert.deepEqual(await stateOf(at), state);
  const back = await deliver(at, 'sso', response);
  assert.equal((await mine.get(back)).to, '/');
  assert.ok(await userWith(at, 'sso', name_id));
  // Replays: the address, and the message.
  assert.equal((await mine.get(back)).status, 401);
  await begin(mine, 'sso');
  assert.equal((await mine.get(await deliver(at, 'sso', response))).status, 401);
  const old = anonymousBrowser(at.url);
  const late = await deliver(at, 'sso', await peer.answer(await begin(old, 'sso')));
  await sql`update provider_messages set created_at = now() - interval '61 seconds'`.execute(at.db);
  assert.equal((await old.get(late)).status, 401);
});

test('a sign-in begins at the provider only where the operator says so, once, and leads to this server', async () => {
  const at = await here();
  somebody();
  const answer = async (provider: string) =>
    peer.answer(await begin(anonymousBrowser(at.url), provider), { inResponseTo: undefined });
  const first = await answer('initiated');
  const browser = anonymousBrowser(at.url);
  assert.equal((await browser.get(await deliver(at, 'initiated', first, '/dashboard/todos'))).to, '/dashboard/todos');
  assert.equal((await browser.get(await deliver(at, 'initiated', first))).status, 401, 'used before');
  assert.equal(
    (await browser.get(await deliver(at, 'initiated', await answer('initiated'), 'https://evil.example.com/'))).to,
    '/',
  );
  assert.equal((await browser.get(await deliver(at, 'sso', await answer('sso')))).status, 401);
});

test('an assertion that is wrong in one way is refused', async () => {
  const at = await here();
  somebody();
  const wrong: Record<string, object> = {
    'SHA-1': { signatureAlgorithm: 'rsa-sha1' },
    'a digest of SHA-1': { digestAlgorithm: 'sha1' },
    'no signature': { signAssertion: false },
    'another key': { key: own.key, cert: own.cert },
    'another issuer': { issuer: 'https://evil.example.com' },
    'another audience': { audience: 'https://other.example.com' },
    'another recipient': { recipient: 'https://other.example.com/users/auth/sso/callback' },
    'another destination': { destination: 'https://other.example.com/users/auth/sso/callback' },
    'another request': { inResponseTo: '_other' },
    'no request': { inResponseTo: undefined },
    'over for 90 s': { lifetimeInSeconds: -90 },
    'a failure': { samlStatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Responder' },
  };
  const state = await stateOf(at);
  const accepted: string[] = [];
  for (const [what, options] of Object.entries(wrong)) {
    const { status, html } = await signIn(at, 'sso', (_response, away) => peer.answer(away, options));
    if (status !== 401) accepted.push(what);
    assert.match(html, /Sign-in with Single sign-on failed/);
  }
  peer.who = { ...peer.who, format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' };
  if ((await signIn(at, 'sso')).status !== 401) accepted.push('a transient name');
  assert.deepEqual(accepted, []);
  assert.deepEqual(await stateOf(at), state);
});

/** Changes the XML of a response. */
const changing = (change: (xml: string) => string) => (response: string) => {
  const xml = Buffer.from(response, 'base64').toString();
  const changed = change(xml);
  assert.notEqual(changed, xml);
  return Buffer.from(changed).toString('base64');
};

/** The parts of a response around its assertion, the assertion, its signature, and one that nobody has signed. */
function partsOf(xml: string) {
  const [assertion = ''] = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml) ?? [];
  const [signature = ''] = /<Signature[\s\S]*<\/Signature>/.exec(assertion) ?? [];
  const evil = assertion
    .replace(signature, '')
    .replace(/person-\d+/, 'admin')
    .replace(/ ID="[^"]*"/, ' ID="_evil"');
  assert.ok(assertion && signature && evil.includes('admin'));
  return { assertion, signature, evil, original: assertion.replace(signature, '') };
}

test('signature wrapping, document types, comments and other changes sign in nobody', async () => {
  const at = await here();
  somebody();
  const state = await stateOf(at);
  const wrap = (build: (parts: ReturnType<typeof partsOf>, xml: string) => string) =>
    changing((xml) => build(partsOf(xml), xml));
  const inside = (outer: string, inner: string) => outer.replace('</saml:Assertion>', `${inner}</saml:Assertion>`);
  const hostile: Record<string, (response: string) => string> = {
    // XSW 1 and 2 wrap a whole response, 3 to 8 an assertion.
    'XSW 1': wrap(({ signature }, xml) => {
      const evil = xml.replace(/person-\d+/, 'admin').replace(/ ID="[^"]*"/, ' ID="_evil"');
      return evil.replace(
        signature,
        signature.replace('</Signature>', `<Object>${xml.replace(/^<\?.*\?>/, '')}</Object></Signature>`),
      );
    }),
    'XSW 2': wrap(({ assertion, signature, evil }, xml) => xml.replace(assertion, `${evil}${signature}${assertion}`)),
    'XSW 3': wrap(({ assertion, evil }, xml) => xml.replace(assertion, evil + assertion)),
    'XSW 4': wrap(({ assertion, evil }, xml) => xml.replace(assertion, inside(evil, assertion))),
    'XSW 5': wrap(({ assertion, original, evil, signature }, xml) =>
      xml.replace(assertion, evil.replace('<saml:Subject', `${signature}<saml:Subject`) + original),
    ),
    'XSW 6': wrap(({ assertion, original, evil, signature }, xml) =>
      xml.replace(
        assertion,
        evil.replace(
          '<saml:Subject',
          `${signature.replace('</Signature>', `<Object>${original}</Object></Signature>`)}<saml:Subject`,
        ),
      ),
    ),
    'XSW 7': wrap(({ assertion, evil }, xml) =>
      xml.replace(assertion, `<samlp:Extensions>${evil}</samlp:Extensions>${assertion}`),
    ),
    'XSW 8': wrap(({ assertion, original, evil, signature }, xml) =>
      xml.replace(
        assertion,
        evil
          .replace(
            '<saml:Subject',
            `${signature.replace('</Signature>', `<Object>${original}</Object></Signature>`)}<saml:Subject`,
          )
          .replace('ID="_evil"', assertion.match(/ ID="[^"]*"/)![0].trim()),
      ),
    ),
    'the assertion in an extension': wrap(({ assertion }, xml) =>
      xml.replace(assertion, `<samlp:Extensions>${assertion}</samlp:Extensions>`),
    ),
    'an id twice': wrap(({ assertion }, xml) =>
      xml.replace(assertion, `<samlp:Extensions ID="${/ ID="([^"]*)"/.exec(assertion)![1]}"/>${assertion}`),
    ),
    'a document type': changing((xml) => `<!DOCTYPE x>${xml}`),
    'an entity': changing((xml) => `<!DOCTYPE x [<!ENTITY who "admin">]>${xml.replace(/person-\d+/, '&who;')}`),
    'an entity of a file': changing(
      (xml) => `<!DOCTYPE x [<!ENTITY who SYSTEM "file:///etc/passwd">]>${xml.replace(/person-\d+/, '&who;')}`,
    ),
    'many entities': changing(
      (xml) =>
        `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${xml.replace(/person-\d+/, '&b;')}`,
    ),
    'another name': changing((xml) => xml.replace(/person-\d+/, 'admin')),
    'another attribute': changing((xml) => xml.replace('@id.example.com', '@evil.example.com')),
    'another method': changing((xml) =>
      xml.replace('rsa-sha256', 'hmac-sha1').replace('2001/04/xmldsig-more#hmac', '2000/09/xmldsig#hmac'),
    ),
    'another transform': changing((xml) =>
      xml.replace(
        '<Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>',
        '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>',
      ),
    ),
    'canonicalization with comments': changing((xml) => xml.replaceAll('xml-exc-c14n#"', 'xml-exc-c14n#WithComments"')),
    'a reference to nothing': changing((xml) => xml.replace(/<Reference URI="[^"]*"/, '<Reference URI=""')),
    'no signature': wrap(({ signature }, xml) => xml.replace(signature, '')),
    'no assertion': wrap(({ assertion }, xml) => xml.replace(assertion, '')),
    'two assertions': wrap(({ assertion }, xml) => xml.replace(assertion, assertion + assertion)),
    'another status': changing((xml) => xml.replace('status:Success', 'status:Requester')),
    'another destination': changing((xml) =>
      xml.replace(/Destination="[^"]*"/, 'Destination="https://other.example.com/"'),
    ),
    'a logout': changing((xml) => xml.replaceAll('samlp:Response', 'samlp:LogoutResponse')),
    'no XML': () => Buffer.from('SAML').toString('base64'),
    'no Base64': () => '!!!',
    nothing: () => '',
    'many levels': () => Buffer.from('<a>'.repeat(5000)).toString('base64'),
  };
  const accepted: string[] = [];
  for (const [what, change] of Object.entries(hostile))
    if ((await signIn(at, 'sso', change)).status !== 401) accepted.push(what);
  assert.deepEqual(accepted, []);
  assert.deepEqual(await stateOf(at), state);
});

test('a comment inside of a name neither cuts nor joins it', async () => {
  const at = await here();
  const name_id = somebody();
  const { status } = await signIn(
    at,
    'sso',
    changing((xml) => xml.replace(name_id, `${name_id.slice(0, 4)}<!-- x -->${name_id.slice(4)}`)),
  );
  // What was signed has no comments, so the whole name counts.
  assert.equal(status, 302);
  assert.ok(await userWith(at, 'sso', name_id));
  assert.equal(await userWith(at, 'sso', name_id.slice(0, 4)), undefined);
});

/** A request of the provider to sign somebody out, as an address. @param change of the XML and of what signs it */
function logoutFor(
  at: World,
  name_id: string,
  { key = peer.key, xml: changed = (xml: string) => xml, method = 'rsa-sha256', more = '' } = {},
) {
  const namespaces =
    'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
  const xml = changed(
    `<samlp:LogoutRequest ${namespaces} ID="_${randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${at.url}/users/auth/metadata/slo"><saml:Issuer>${peer.issuer}</saml:Issuer><saml:NameID>${name_id}</saml:NameID></samlp:LogoutRequest>`,
  );
  const algorithm = `http://www.w3.org/2001/04/xmldsig-more#${method}`;
  const query = `SAMLRequest=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}&SigAlg=${encodeURIComponent(algorithm)}`;
  const signature = sign(method === 'rsa-sha1' ? 'sha1' : 'sha256', Buffer.from(query), key).toString('base64');
  return `${at.url}/users/auth/metadata/slo?${query}&Signature=${encodeURIComponent(signature)}${more}`;
}

test('a provider ends the sessions that it began, by a request that it has signed', async () => {
  const at = await here();
  const name_id = somebody();
  const browser = anonymousBrowser(at.url);
  const enter = async () => {
    const away = await begin(browser, 'metadata');
    assert.equal((await browser.get(await deliver(at, 'metadata', await peer.answer(away)))).to, '/');
  };
  const isIn = async () => (await browser.get('/-/user_settings/identities')).status === 200;
  const ask = async (address: string) => (await fetch(address, { redirect: 'manual' })).status;
  await enter();
  const hostile = [
    logoutFor(at, name_id, { key: own.key }),
    logoutFor(at, name_id, { method: 'rsa-sha1' }),
    logoutFor(at, name_id).replace(/&Signature=.*/, ''),
    logoutFor(at, name_id, { more: '&xSAMLRequest=x' }),
    logoutFor(at, name_id, { more: '&Signature=x' }),
    logoutFor(at, name_id, {
      xml: (xml) => xml.replace(/Destination="[^"]*"/, 'Destination="https://other.example.com/"'),
    }),
    logoutFor(at, name_id, { xml: (xml) => xml.replace(peer.issuer, 'https://evil.example.com') }),
    logoutFor(at, name_id, {
      xml: (xml) => xml.replace(/IssueInstant="[^"]*"/, 'IssueInstant="2020-01-01T00:00:00Z"'),
    }),
    logoutFor(at, name_id, { xml: (xml) => `<!DOCTYPE x>${xml}` }),
    `${at.url}/users/auth/metadata/slo`,
    `${at.url}/users/auth/metadata/slo?SAMLRequest=x&SigAlg=%FF&Signature=x`,
  ];
  for (const address of hostile) assert.equal(await ask(address), 401, address);
  assert.equal(await ask(logoutFor(at, 'somebody else')), 303);
  assert.ok(await isIn());
  const request = logoutFor(at, name_id);
  assert.equal(await ask(request), 303);
  assert.equal(await isIn(), false);
  await enter();
  assert.equal(await ask(request), 401, 'it has counted');
  assert.ok(await isIn());
});

test('the metadata say where a provider answers to', async () => {
  const at = await here();
  const answer = await fetch(`${at.url}/users/auth/sealed/metadata`);
  assert.equal(answer.headers.get('content-type'), 'application/samlmetadata+xml');
  const xml = await answer.text();
  assert.match(xml, /entityID="urn:forge"/);
  assert.match(xml, /WantAssertionsSigned="true"/);
  assert.match(xml, new RegExp(`bindings:HTTP-POST" Location="${at.url}/users/auth/sealed/callback"`));
  assert.match(xml, /X509Certificate/);
  assert.match(await (await fetch(`${at.url}/users/auth/sso/metadata`)).text(), new RegExp(`entityID="${at.url}"`));
  for (const path of ['/users/auth/none/metadata', '/users/auth/none/callback'])
    assert.equal((await fetch(at.url + path, { method: path.endsWith('callback') ? 'POST' : 'GET' })).status, 404);
});

browserTest('a browser comes back by a form of the provider', async (invite) => {
  const at = await here();
  const name_id = somebody();
  const visitor = await invite(at.url, { javaScriptEnabled: false });
  await visitor.open('/users/sign_in?to=%2Fdashboard%2Ftodos');
  await visitor.press('Sign in with Single sign-on');
  await visitor.press('Go on');
  assert.equal(visitor.path, '/dashboard/todos');
  assert.ok(await userWith(at, 'sso', name_id));
});
