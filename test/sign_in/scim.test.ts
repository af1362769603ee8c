/** An identity provider that provisions accounts by SCIM, as Entra ID and Okta do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type World, world } from '../support/world.ts';

const provider = { type: 'oidc', name: 'corporate', issuer: 'https://id.example.com', client_id: 'coppice' };
const root = '/api/scim/v2/application';
const address = `http://coppice.test${root}`;
const account = (name: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  ...{ externalId: `${name}-uid`, userName: `${name}@id.example.com`, active: true },
  name: { formatted: `${name} of the directory` },
  emails: [{ primary: true, type: 'work', value: `${name}@id.example.com` }],
});

type Ask = (
  method: string,
  path: string,
  body?: object,
) => Promise<{
  status: number;
  type: string | null;
  location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: replies of different shapes, as tests read them.
  body: any;
}>;

/** How a program with a token asks. */
const askWith =
  ({ url }: World, token: string | undefined): Ask =>
  async (method, path, body) => {
    const response = await fetch(`${url}${root}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body ? { 'content-type': 'application/scim+json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const { headers, status } = response;
    return {
      status,
      type: headers.get('content-type'),
      location: headers.get('location'),
      body: text && JSON.parse(text),
    };
  };

let server: Promise<World> | undefined;

/** A server that knows the provider, and how a program asks it with a new token. */
async function provisioned() {
  server ??= signInFile({ providers: [provider], scim: { provider: 'corporate' } }).then((environment) =>
    world({ environment }),
  );
  const here = await server;
  const { status, body } = await here.as('admin').post('/application/scim_token', {});
  assert.equal(status, 201);
  assert.equal(body.url, address);
  return { here, token: body.token as string, ask: askWith(here, body.token) };
}

const errorOf = ({ status, type, body }: Awaited<ReturnType<Ask>>) => {
  assert.equal(type, 'application/scim+json');
  assert.deepEqual(body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error']);
  assert.equal(body.status, String(status));
  return [status, body.scimType];
};

test('an account is provisioned, found, blocked, unblocked and removed', async () => {
  const { here, ask } = await provisioned();
  const { db, as } = here;
  const created = await ask('POST', '/Users', account('ada'));
  assert.equal(created.status, 201);
  assert.equal(created.type, 'application/scim+json');
  assert.equal(created.location, `${address}/Users/ada-uid`);
  const { meta, ...shown } = created.body;
  assert.deepEqual(shown, { ...account('ada'), id: 'ada-uid', userName: 'ada' });
  assert.equal(meta.location, created.location);
  const [user] = (await as('admin').get('/users', { extern_uid: 'ada-uid', provider: 'corporate' })).body;
  assert.deepEqual([user.username, user.state, user.email], ['ada', 'active', 'ada@id.example.com']);
  const events = async () => {
    const { body } = await as('admin').get('/audit_events', { entity_type: 'User', entity_id: user.id });
    return body.map(({ event_name, details }: { event_name: string; details: { author_name: string } }) => [
      event_name,
      details.author_name,
    ]);
  };
  assert.deepEqual(await events(), [['user_provisioned_by_scim', 'SCIM']]);

  assert.deepEqual((await ask('GET', '/Users/ada-uid')).body, created.body);
  for (const filter of [
    'userName eq "ADA"',
    'externalId eq "ada-uid"',
    'id Eq "ada-uid"',
    'emails.value eq "ADA@id.example.com"',
  ]) {
    const { body } = await ask('GET', `/Users?${new URLSearchParams({ filter })}`);
    assert.deepEqual(
      [body.totalResults, body.itemsPerPage, body.startIndex, body.Resources],
      [1, 1, 1, [created.body]],
    );
  }
  const browser = await browserOf(here, user);
  assert.equal((await browser.get('/dashboard/todos')).status, 200);

  const patch = (value: unknown) =>
    ask('PATCH', '/Users/ada-uid', { Operations: [{ op: 'Replace', path: 'active', value }] });
  assert.equal((await patch('False')).status, 204);
  assert.equal((await ask('GET', '/Users/ada-uid')).body.active, false);
  assert.equal((await as('admin').get(`/users/${user.id}`)).body.state, 'blocked');
  assert.equal((await patch('True')).status, 204);
  assert.equal((await as('admin').get(`/users/${user.id}`)).body.state, 'active');
  // The session has ended, so that the former cookie does not come back to life.
  assert.equal((await browser.get('/dashboard/todos')).to, '/users/sign_in?to=%2Fdashboard%2Ftodos');

  const renamed = await ask('PATCH', '/Users/ada-uid', {
    Operations: [{ op: 'add', path: 'externalId', value: 'new/uid' }],
  });
  assert.equal(renamed.status, 204);
  assert.deepEqual(errorOf(await ask('GET', '/Users/ada-uid')), [404, undefined]);
  assert.equal((await ask('GET', '/Users/new%2Fuid')).body.meta.location, `${address}/Users/new%2Fuid`);
  assert.equal((await ask('DELETE', '/Users/new%2Fuid')).status, 204);
  assert.equal((await ask('GET', '/Users/new%2Fuid')).body.active, false);
  const names = (await events()).map(([name]: string[]) => name);
  assert.deepEqual(names.slice(0, 4), ['user_blocked', 'identity_created', 'unblock_user', 'user_blocked']);
  const { count } = await db
    .selectFrom('users')
    .select(db.fn.countAll().as('count'))
    .where('id', '=', user.id)
    .executeTakeFirstOrThrow();
  assert.equal(Number(count), 1);
});

test('an account that exists is never taken over', async () => {
  const { here, ask } = await provisioned();
  const { people } = here;
  assert.equal((await ask('POST', '/Users', account('bob'))).status, 201);
  assert.deepEqual(errorOf(await ask('POST', '/Users', account('bob'))), [409, 'uniqueness']);
  const { email } = (await here.as('developer').get('/user')).body;
  const asked = { ...account('eve'), emails: [{ value: email }] };
  assert.deepEqual(errorOf(await ask('POST', '/Users', asked)), [409, 'uniqueness']);
  assert.equal((await here.as('admin').get(`/users/${people.developer.id}`)).body.identities.length, 0);
  // A username that somebody has gets a number.
  const { username } = people.developer;
  const named = await ask('POST', '/Users', { ...account('eve'), userName: username });
  assert.deepEqual([named.status, named.body.userName], [201, `${username}1`]);
  const operations = [{ op: 'replace', path: 'id', value: 'bob-uid' }];
  assert.deepEqual(errorOf(await ask('PATCH', '/Users/eve-uid', { Operations: operations })), [409, 'uniqueness']);
  // Accounts that SCIM has not made are not seen.
  const filter = new URLSearchParams({ filter: `userName eq "${username}"` });
  assert.equal((await ask('GET', `/Users?${filter}`)).body.totalResults, 0);
});

test('two requests for the same account make one', async () => {
  const { ask } = await provisioned();
  const replies = await Promise.all(Array.from({ length: 4 }, () => ask('POST', '/Users', account('twin'))));
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409]);
});

test('the last administrator is not blocked', async () => {
  const { here, ask } = await provisioned();
  const { db, people } = here;
  await here.as('admin').put(`/users/${people.admin.id}`, { provider: 'corporate', extern_uid: 'root-uid' });
  const others = await db
    .updateTable('users')
    .set({ admin: false })
    .where('admin', '=', true)
    .where('id', '<>', people.admin.id)
    .returning('id')
    .execute();
  assert.deepEqual(errorOf(await ask('DELETE', '/Users/root-uid')), [403, undefined]);
  assert.equal((await here.as('admin').get('/user')).body.state, 'active');
  for (const { id } of others) await db.updateTable('users').set({ admin: true }).where('id', '=', id).execute();
});

test('only the token of SCIM opens it, and opens nothing else', async () => {
  const { here, token, ask } = await provisioned();
  const { body } = await here.as('admin').post(`/users/${here.people.admin.id}/personal_access_tokens`, {
    ...{ name: 'all', scopes: ['api'] },
  });
  for (const wrong of [undefined, body.token, 'glsoat-wrong', `${token}x`])
    for (const [method, path] of [
      ['GET', '/Users'],
      ['POST', '/Users'],
      ['PATCH', '/Users/x'],
      ['PUT', '/Users/x'],
      ['DELETE', '/Users/x'],
      ['GET', '/ServiceProviderConfig'],
    ] as const)
      assert.deepEqual(errorOf(await askWith(here, wrong)(method, path)), [401, undefined]);
  for (const headers of [[['authorization', `Bearer ${token}`]], [['private-token', token]]] as [string, string][][])
    assert.equal((await fetch(`${here.url}/api/v4/user`, { headers })).status, 401);
  const again = await here.as('admin').post('/application/scim_token', {});
  assert.equal((await ask('GET', '/Users')).status, 401);
  assert.equal((await askWith(here, again.body.token)('GET', '/Users')).status, 200);
  for (const role of ['owner', 'developer'] as const)
    assert.equal((await here.as(role).post('/application/scim_token', {})).status, 403);
  assert.equal((await here.as('admin').delete('/application/scim_token')).status, 204);
  assert.equal((await askWith(here, again.body.token)('GET', '/Users')).status, 401);
  const { body: events } = await here.as('admin').get('/audit_events', { per_page: 3 });
  assert.deepEqual(
    events.map(({ event_name }: { event_name: string }) => event_name),
    ['scim_token_revoked', 'scim_token_created', 'personal_access_token_created'],
  );
});

test('wrong requests are refused in the form of SCIM', async () => {
  const { ask } = await provisioned();
  for (const [method, path, body, status, kind] of [
    ['GET', '/Users?filter=title%20eq%20%22x%22', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?filter=id%20eq%20%22x%22&filter=y', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?count=many', undefined, 400, 'invalidValue'],
    ['GET', '/Users/nobody', undefined, 404, undefined],
    ['GET', '/Users/%00', undefined, 404, undefined],
    ['POST', '/Users', { ...account('x'), emails: [{ value: 'no address' }] }, 400, 'invalidValue'],
    ['POST', '/Users', { ...account('x'), name: { formatted: 'x'.repeat(300) } }, 400, 'invalidValue'],
    ['POST', '/Users', {}, 400, 'invalidValue'],
    ['PATCH', '/Users/nobody', { Operations: [{ op: 'replace', path: 'active', value: true }] }, 404, undefined],
    ['PATCH', '/Users/nobody', {}, 400, 'invalidSyntax'],
    ['DELETE', '/Users/nobody', undefined, 404, undefined],
    ['PUT', '/Users/nobody', account('x'), 501, undefined],
  ] as const)
    assert.deepEqual(errorOf(await ask(method, path, body)), [status, kind], `${method} ${path}`);
  assert.equal((await ask('GET', '/Users?startIndex=0&count=0')).body.totalResults > 0, true);
  const config = (await ask('GET', '/ServiceProviderConfig')).body;
  assert.deepEqual([config.patch.supported, config.filter.supported, config.bulk.supported], [true, true, false]);
  assert.equal((await ask('GET', '/ResourceTypes')).body.Resources[0].endpoint, '/Users');
  assert.equal((await ask('GET', '/Schemas')).body.Resources[0].id, 'urn:ietf:params:scim:schemas:core:2.0:User');
});

test('administrators make and revoke the token on a page', async () => {
  const { here } = await provisioned();
  const page = '/admin/scim';
  const browser = await browserOf(here, here.people.admin);
  const made = await browser.send(page, 'token');
  const [token] = /glsoat-[\w-]+/.exec(made.html)!;
  assert.ok(made.html.includes(address));
  assert.equal((await askWith(here, token)('GET', '/Users')).status, 200);
  assert.ok(!(await browser.get(page)).html.includes(token), 'it is shown once');
  await browser.send(page, 'revoke');
  assert.equal((await askWith(here, token)('GET', '/Users')).status, 401);
});
