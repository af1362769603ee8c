import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

const given = { name: 'Orchard map', redirect_uri: 'https://map.example.com/callback', scopes: 'openid read_user' };

test('an administrator registers an application, renews its secret and deletes it', async () => {
  const here = await world();
  const admin = here.as('admin');
  const made = await admin.post('/applications', given);
  const { id, application_id, secret, ...rest } = made.body;
  assert.equal(made.status, 201);
  assert.match(application_id, /^[0-9a-f]{64}$/);
  assert.match(secret, /^gloas-[\w-]{32}$/);
  assert.deepEqual(rest, {
    application_name: 'Orchard map',
    callback_url: given.redirect_uri,
    confidential: true,
    scopes: ['openid', 'read_user'],
  });
  const shown = { id, application_id, ...rest };
  const listed = async () => (await admin.get('/applications', { per_page: 100 })).body as { id: number }[];
  assert.deepEqual(
    (await listed()).find((each) => each.id === id),
    shown,
  );
  const digestNow = async () =>
    (
      await here.db
        .selectFrom('oauth_applications')
        .select('secret_digest')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    ).secret_digest;
  const before = await digestNow();
  const renewed = await admin.post(`/applications/${id}/renew-secret`);
  assert.equal(renewed.status, 201);
  assert.deepEqual({ ...renewed.body, secret: '' }, { ...shown, secret: '' });
  assert.notEqual(renewed.body.secret, secret);
  assert.notDeepEqual(await digestNow(), before);
  assert.equal((await admin.delete(`/applications/${id}`)).status, 204);
  assert.ok(!(await listed()).some((each) => each.id === id));
  for (const reply of [await admin.delete(`/applications/${id}`), await admin.post(`/applications/${id}/renew-secret`)])
    assert.deepEqual([reply.status, reply.body.message], [404, '404 Application Not Found']);
});

test('a program on the computer of its user keeps no secret, and may have a scheme of its own', async () => {
  const here = await world();
  const own = { ...given, redirect_uri: 'com.example.map:/cb\nhttp://localhost:7171/auth', confidential: false };
  const { status, body } = await here.as('admin').post('/applications', own);
  assert.deepEqual([status, body.confidential, body.callback_url], [201, false, own.redirect_uri]);
});

test('what cannot be registered is refused by its name', async () => {
  const here = await world();
  const refusal = async (change: Record<string, unknown>) => {
    const { status, body } = await here.as('admin').post('/applications', { ...given, ...change });
    return [status, body.message];
  };
  const cases: [Record<string, unknown>, unknown][] = [
    [{ name: undefined }, 'name is missing'],
    [{ name: ' ' }, { name: ["can't be blank"] }],
    [{ name: 'a'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'a\0b' }, 'name is invalid'],
    [{ redirect_uri: undefined }, 'redirect_uri is missing'],
    [{ redirect_uri: '/callback' }, { redirect_uri: ['must be an absolute URI.'] }],
    [{ redirect_uri: 'https://a.example.com/#x' }, { redirect_uri: ['cannot contain a fragment.'] }],
    [{ redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
    [{ redirect_uri: 'https://' }, { redirect_uri: ['must be a valid URI.'] }],
    [{ redirect_uri: ['https://a.example.com', { a: 1 }] }, 'redirect_uri is invalid'],
    [{ scopes: undefined }, 'scopes is missing, scopes is empty'],
    [{ scopes: '' }, 'scopes is empty'],
    [{ scopes: 'api everything' }, { scopes: ["doesn't match configured on the server."] }],
    [{ confidential: 'perhaps' }, 'confidential is invalid'],
  ];
  for (const [change, message] of cases) assert.deepEqual(await refusal(change), [400, message]);
});

test('others than administrators see no applications', async () => {
  const here = await world();
  for (const [persona, status] of [
    ['owner', 403],
    ['anonymous', 401],
  ] as const) {
    assert.equal((await here.as(persona).get('/applications')).status, status);
    assert.equal((await here.as(persona).post('/applications', given)).status, status);
  }
});
