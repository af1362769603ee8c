import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { clientOf } from '../../../../test/support/client.ts';
import { codeFor, exchangeOf, newApplication, oauthOf, queryOf } from '../../../../test/support/oauth.ts';
import { type World, world } from '../../../../test/support/world.ts';

const own = '/-/user_settings/applications';
const fields = {
  ...{ name: 'My map', redirect_uri: 'https://map.example.com/callback', confidential: 'true' },
  'scopes[]': ['openid', 'read_user'],
};

/** The names of the audit events since a number, oldest first, with what they are about. */
const eventsSince = async ({ db }: World, id: number) =>
  (
    await db
      .selectFrom('audit_events')
      .select(['event_name', 'entity_type', 'author_id'])
      .where('id', '>', id)
      .orderBy('id')
      .execute()
  ).map(({ event_name, entity_type, author_id }) => [event_name, entity_type, author_id]);

const lastEvent = async ({ db }: World): Promise<number> =>
  (await db.selectFrom('audit_events').select('id').orderBy('id', 'desc').executeTakeFirst())?.id ?? 0;

test('a user registers an application, renews its secret and deletes it, each with one event', async () => {
  const here = await world({});
  const { developer, owner } = here.people;
  const browser = await browserOf(here, developer);
  const before = await lastEvent(here);
  const made = await browser.send(own, 'create_application', fields);
  assert.equal(made.status, 200);
  const [, secret] = /(gloas-[\w-]+)/.exec(made.html)!;
  const { id, uid } = await here.db
    .selectFrom('oauth_applications')
    .select(['id', 'uid'])
    .where('user_id', '=', developer.id)
    .executeTakeFirstOrThrow();
  const listed = await browser.get(own);
  assert.ok(listed.html.includes(uid) && !listed.html.includes('gloas-'));
  const asked = await (await browserOf(here, owner)).get(
    `/oauth/authorize?${queryOf({ id, application_id: uid, secret: secret! })}`,
  );
  assert.ok(asked.html.includes(`@${developer.username}`), 'the page says who has registered it');
  const renewed = await browser.send(own, 'renew_application', { application_id: String(id) });
  assert.ok(/gloas-/.test(renewed.html) && !renewed.html.includes(secret!));
  const stranger = await browserOf(here, owner);
  for (const form of ['renew_application', 'remove_application'])
    assert.equal((await stranger.send(own, form, { application_id: String(id) })).status, 404);
  assert.equal((await browser.send(own, 'remove_application', { application_id: String(id) })).status, 303);
  assert.equal(
    await here.db.selectFrom('oauth_applications').select('id').where('id', '=', id).executeTakeFirst(),
    undefined,
  );
  const events = (await eventsSince(here, before)).filter(([name]) => String(name).startsWith('oauth_'));
  assert.deepEqual(
    events,
    ['created', 'secret_renewed', 'destroyed'].map((what) => [`oauth_application_${what}`, 'User', developer.id]),
  );
  await here.as('admin').put('/application/settings', { user_oauth_applications: false });
  assert.equal((await browser.send(own, 'create_application', fields)).status, 403);
  assert.ok(!(await browser.get(own)).html.includes('New application'));
});

test('owners of a group have its applications, and administrators those of the instance', async () => {
  const here = await world({});
  const place = `/groups/${here.group.full_path}/-/settings/applications`;
  const browser = await browserOf(here, here.people.owner);
  assert.match((await browser.send(place, 'create_application', fields)).html, /gloas-/);
  assert.ok((await browser.get(place)).html.includes('My map'));
  assert.equal((await (await browserOf(here, here.people.maintainer)).get(place)).status, 403);
  const admin = await browserOf(here, here.people.admin);
  const { 'scopes[]': _, ...rest } = fields;
  const wrong = await admin.send('/admin/applications', 'create_application', { ...rest, scopes: 'everything' });
  assert.equal(wrong.status, 400);
  const made = await admin.send('/admin/applications', 'create_application', { ...rest, scopes: 'openid api' });
  assert.match(made.html, /gloas-/);
  assert.equal((await browser.get('/admin/applications')).status, 403);
});

test('a user sees what they have agreed to, and takes it back', async () => {
  const here = await world({});
  const { developer } = here.people;
  const application = await newApplication(here);
  const browser = await browserOf(here, developer);
  const before = await lastEvent(here);
  const give = async () => {
    const exchange = exchangeOf(
      application,
      await codeFor(browser, queryOf(application, { scope: 'api' }), developer.id),
    );
    return (await oauthOf(here).post('/token', exchange)).body;
  };
  const { access_token, refresh_token } = await give();
  const user = async () => (await clientOf(`${here.url}/api/v4`, access_token).get('/user')).status;
  assert.match((await browser.get(own)).html, /Orchard map[\s\S]*never used/);
  assert.equal(await user(), 200);
  assert.match((await browser.get(own)).html, /Orchard map[\s\S]*last used/);
  await give();
  const waiting = exchangeOf(application, await codeFor(browser, queryOf(application, { scope: 'api' }), developer.id));
  assert.equal((await browser.send(own, 'revoke_authorized', { application_id: String(application.id) })).status, 303);
  assert.equal(await user(), 401);
  const own_client = { client_id: application.application_id, client_secret: application.secret };
  for (const given of [waiting, { grant_type: 'refresh_token', refresh_token, ...own_client }])
    assert.equal((await oauthOf(here).post('/token', given)).body.error, 'invalid_grant');
  assert.equal((await browser.send(own, 'revoke_authorized', { application_id: String(application.id) })).status, 404);
  assert.equal((await browser.get(`/oauth/authorize?${queryOf(application, { scope: 'api' })}`)).status, 200);
  const events = (await eventsSince(here, before)).filter(([name]) => String(name).startsWith('user_'));
  assert.deepEqual(
    events.filter(([name]) => /oauth/.test(String(name))),
    ['authorized', 'revoked'].map((what) => [`user_${what}_oauth_application`, 'User', developer.id]),
  );
});
