import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { linkIn, mailOf } from '../../../../test/support/mail.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { recipientFor } from '../../../access/index.ts';
import { confirmEmail, confirmNewPrimary, tellOfNewEmail, tellOfPrimaryChange, tellOfPrimaryRequest } from './jobs.ts';

const jobs = [confirmEmail, confirmNewPrimary, tellOfNewEmail, tellOfPrimaryChange, tellOfPrimaryRequest];

/** Opens a link of a message like a browser, on the server of the test. */
const open = ({ url }: World, link: URL) => fetch(`${url}${link.pathname}${link.search}`);

const taken = { message: { email: ['has already been taken'] } };

test('an address is added, listed with the primary one, and deleted', async () => {
  const { as, people } = await world();
  const { username } = people.guest;
  const added = await as('guest').post('/user/emails', { email: `  Second.${username}@Example.com ` });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { id } = added.body;
  assert.deepEqual(added.body, { id, email: `second.${username}@example.com`, confirmed_at: null, refused_at: null });

  const list = await as('guest').get('/user/emails');
  assert.deepEqual([list.status, list.headers.get('x-total')], [200, '2']);
  const [primary, second] = list.body;
  assert.equal(primary.email, `${username}@example.com`);
  assert.notEqual(primary.confirmed_at, null);
  assert.deepEqual(second, added.body);
  assert.deepEqual((await as('guest').get('/user/emails', { per_page: 1, page: 2 })).body, [added.body]);
  assert.deepEqual((await as('guest').get(`/user/emails/${id}`)).body, added.body);
  assert.deepEqual((await as('guest').get(`/user/emails/${primary.id}`)).body, primary);

  for (const foreign of [
    await as('planner').get(`/user/emails/${id}`),
    await as('planner').delete(`/user/emails/${id}`),
  ])
    assert.deepEqual([foreign.status, foreign.body], [404, { message: '404 Email Not Found' }]);
  assert.equal((await as('guest').delete(`/user/emails/${id}`)).status, 204);
  assert.equal((await as('guest').delete(`/user/emails/${id}`)).status, 404);
  assert.deepEqual((await as('guest').get('/user/emails')).body, [primary]);
});

test('an address refused by a mail server is shown as such until it is confirmed again', async () => {
  const here = await world();
  const { as, services, db } = here;
  const shown = async () => (await as('guest').get('/user/emails')).body[0];
  const { id, email } = await shown();
  const sent = () => mailOf(services, [confirmEmail]);
  assert.deepEqual((await as('guest').post('/user/emails', { email })).body, taken, 'while it is not');
  const refusal = { refused_at: sql<string>`now() + interval '1 minute'` };
  await db.updateTable('emails').set(refusal).where('id', '=', id).execute();
  const { refused_at } = await shown();
  assert.ok(refused_at);
  assert.deepEqual((await as('planner').post('/user/emails', { email })).body, taken);
  assert.deepEqual(await sent(), []);
  const again = await as('guest').post('/user/emails', { email: email.toUpperCase() });
  assert.deepEqual([again.status, again.body.id, again.body.refused_at], [201, id, refused_at]);
  const [mail, ...others] = await sent();
  assert.deepEqual(others, []);
  const link = linkIn(mail!);
  assert.equal((await open(here, link)).status, 200);
  assert.equal((await shown()).refused_at, null);
  assert.match(await (await open(here, link)).text(), /confirmed/);
});

test('the primary address cannot be deleted', async () => {
  const { as, people } = await world();
  const [primary] = (await as('guest').get('/user/emails')).body;
  const refusal = [400, { message: 'Cannot delete primary email' }];
  const own = await as('guest').delete(`/user/emails/${primary.id}`);
  const admins = await as('admin').delete(`/users/${people.guest.id}/emails/${primary.id}`);
  assert.deepEqual([own.status, own.body], refusal);
  assert.deepEqual([admins.status, admins.body], refusal);
  assert.deepEqual((await as('guest').get('/user/emails')).body, [primary]);
});

test('invalid and taken addresses are refused', async () => {
  const { as, people } = await world();
  const { username } = people.guest;
  await as('guest').post('/user/emails', { email: `mine-${username}@example.com` });
  const before = (await as('guest').get('/user/emails')).body;
  const missing = await as('guest').post('/user/emails', {});
  assert.deepEqual([missing.status, missing.body], [400, { error: 'email is missing', message: 'email is missing' }]);
  const reasons: [unknown, unknown][] = [
    [' ', { message: { email: ["can't be blank", 'is invalid'] } }],
    ['nobody', { message: { email: ['is invalid'] } }],
    ['a@b@c', { message: { email: ['is invalid'] } }],
    ['a@b\n.c', { message: { email: ['is invalid'] } }],
    ['a\u0001@b.c', { message: { email: ['is invalid'] } }],
    ['a@b.c, d@e.f', { message: { email: ['is invalid'] } }],
    [`${'x'.repeat(251)}@b.c`, { message: { email: ['is too long (maximum is 254 characters)'] } }],
    [`mine-${username}@example.com`, taken],
    [`${username}@EXAMPLE.com`, taken],
    [`${people.planner.username}@example.com`, taken],
  ];
  for (const [email, body] of reasons) {
    const refused = await as('guest').post('/user/emails', { email });
    assert.deepEqual([refused.status, refused.body], [400, body], String(email));
  }
  const known = { email: `known-${username}@example.com`, skip_confirmation: true };
  assert.equal((await as('admin').post(`/users/${people.outsider.id}/emails`, known)).status, 201);
  const foreign = await as('planner').post('/user/emails', { email: known.email.toUpperCase() });
  assert.deepEqual([foreign.status, foreign.body], [400, taken]);
  assert.deepEqual((await as('guest').get('/user/emails')).body, before);
  for (const path of ['/user/emails/x', `/users/${people.guest.id}/emails/x`]) {
    const wrong = await as('admin').delete(path);
    assert.deepEqual([wrong.status, wrong.body.message], [400, 'email_id is invalid']);
  }
  assert.equal((await as('admin').get('/users/x/emails')).body.message, 'id is invalid');
});

test('an address that an account has added is taken for all others, confirmed or not and in any case', async () => {
  const { as, people, group } = await world();
  const { guest, planner } = people;
  const [added, waiting, robots] = ['added', 'waiting', 'robots'].map((name) => `${name}-${group.id}@example.com`);
  assert.equal((await as('guest').post('/user/emails', { email: added })).status, 201);
  assert.equal((await as('admin').put(`/users/${guest.id}`, { email: waiting })).status, 200);
  assert.equal((await as('admin').post('/service_accounts', { email: robots })).body.email, robots);
  const before = (await as('admin').get(`/users/${planner.id}/emails`)).body;

  const account = { username: `other-${group.id}`, name: 'x', force_random_password: true };
  const conflict = { message: 'Email has already been taken' };
  for (const email of [added, waiting, robots].flatMap((address) => [address!, address!.toUpperCase()])) {
    const answers = [
      await as('planner').post('/user/emails', { email }),
      await as('admin').post(`/users/${planner.id}/emails`, { email }),
      await as('admin').post(`/users/${planner.id}/emails`, { email, skip_confirmation: true }),
      await as('admin').post('/service_accounts', { email }),
      await as('admin').post('/users', { ...account, email }),
      await as('admin').post('/users', { ...account, email, skip_confirmation: true }),
      await as('admin').put(`/users/${planner.id}`, { email }),
    ];
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body]),
      [
        [400, taken],
        [400, taken],
        [400, taken],
        [400, { message: '400 Bad request - Email has already been taken' }],
        [409, conflict],
        [409, conflict],
        [409, conflict],
      ],
      email,
    );
  }
  assert.deepEqual((await as('guest').post('/user/emails', { email: added })).body, taken);
  assert.deepEqual((await as('admin').get(`/users/${planner.id}/emails`)).body, before);
  assert.deepEqual((await as('admin').get('/users', { username: account.username })).body, []);
});

test('only administrators manage the addresses of others', async () => {
  const { as, people, services } = await world();
  const url = `/users/${people.guest.id}/emails`;
  const email = `given-${people.guest.username}@example.com`;
  for (const [who, status] of [
    ['anonymous', 401],
    ['guest', 403],
  ] as const) {
    assert.equal((await as(who).get(url)).status, status);
    assert.equal((await as(who).post(url, { email })).status, status);
    assert.equal((await as(who).delete(`${url}/1`)).status, status);
  }
  assert.equal((await as('anonymous').get('/user/emails')).status, 401);
  await mailOf(services, jobs); // what tests before this one have left
  const added = await as('admin').post(url, { email, skip_confirmation: true });
  assert.equal(added.status, 201);
  assert.ok(Math.abs(Date.parse(added.body.confirmed_at) - Date.now()) < 60_000);
  assert.deepEqual((await as('admin').get(url)).body, (await as('guest').get('/user/emails')).body);
  assert.deepEqual((await as('admin').get(url)).body[1], added.body);

  const mails = await mailOf(services, jobs);
  assert.deepEqual(
    mails.map(({ to, subject }) => [to.address, subject]),
    [[`${people.guest.username}@example.com`, 'An email address was added to your account']],
  );
  const unknown = [
    await as('admin').get('/users/99999999/emails'),
    await as('admin').post('/users/99999999/emails', { email }),
  ];
  unknown.push(await as('admin').delete('/users/99999999/emails/1'));
  for (const { status, body } of unknown) assert.deepEqual([status, body], [404, { message: '404 User Not Found' }]);
  const foreign = await as('admin').delete(`/users/${people.planner.id}/emails/${added.body.id}`);
  assert.deepEqual([foreign.status, foreign.body], [404, { message: '404 Email Not Found' }]);
  assert.equal((await as('admin').delete(`${url}/${added.body.id}`)).status, 204);
  assert.equal((await as('admin').get(url)).body.length, 1);
});

test('an address is deleted only if it has not changed', async () => {
  const { as, people } = await world();
  const { id } = (await as('guest').post('/user/emails', { email: `seen-${people.guest.username}@example.com` })).body;
  const since = (offset_ms: number) => ({
    headers: { 'if-unmodified-since': new Date(Date.now() + offset_ms).toUTCString() },
  });
  const late = await as('guest').delete(`/user/emails/${id}`, undefined, since(-60_000));
  assert.deepEqual([late.status, late.body], [412, { message: '412 Precondition Failed' }]);
  assert.equal(
    (await as('admin').delete(`/users/${people.guest.id}/emails/${id}`, undefined, since(-60_000))).status,
    412,
  );
  assert.equal((await as('guest').get(`/user/emails/${id}`)).status, 200);
  assert.equal((await as('guest').delete(`/user/emails/${id}`, undefined, since(60_000))).status, 204);
});

test('an address is not used until its link is opened, which works once', async () => {
  const here = await world();
  const { as, people, services } = here;
  const { id, username } = people.guest;
  const email = `second-${username}@example.com`;
  const added = (await as('guest').post('/user/emails', { email })).body;

  const mails = await mailOf(services, jobs);
  const [confirmation, notice] = ['Confirm your email address', 'An email address was added to your account'].map(
    (subject) => mails.find((mail) => mail.subject === subject)!,
  );
  assert.equal(mails.length, 2);
  assert.deepEqual(confirmation!.to, { name: username.replaceAll('-', ' '), address: email });
  assert.equal(notice!.to.address, `${username}@example.com`);
  assert.ok(JSON.stringify(notice!.paragraphs).includes(email));
  const link = linkIn(confirmation!);
  assert.deepEqual([link.origin, link.pathname], ['http://coppice.test', '/-/profile/emails/confirmation']);

  const refusal = { message: { commit_email: ['is not an email you own'] } };
  assert.deepEqual((await as('admin').put(`/users/${id}`, { commit_email: email })).body, refusal);
  assert.deepEqual((await as('admin').get('/users', { search: email })).body, []);
  assert.equal((await recipientFor(here.db, id, email))?.address, `${username}@example.com`);

  assert.equal((await fetch(`${here.url}${link.pathname}${link.search}`, { method: 'HEAD' })).status, 404);
  assert.equal((await as('guest').get(`/user/emails/${added.id}`)).body.confirmed_at, null);
  const opened = await open(here, link);
  assert.equal(opened.status, 200);
  assert.match(opened.headers.get('content-security-policy')!, /^default-src 'none'/);
  assert.deepEqual(
    [opened.headers.get('cache-control'), opened.headers.get('referrer-policy')],
    ['no-store', 'same-origin'],
  );
  assert.ok((await opened.text()).includes(`${email} is confirmed.`));
  const { confirmed_at } = (await as('guest').get(`/user/emails/${added.id}`)).body;
  assert.notEqual(confirmed_at, null);
  assert.match(await (await open(here, link)).text(), /was confirmed before/);
  assert.equal((await as('guest').get(`/user/emails/${added.id}`)).body.confirmed_at, confirmed_at);

  const chosen = await as('admin').put(`/users/${id}`, { commit_email: email.toUpperCase(), public_email: email });
  assert.deepEqual([chosen.status, chosen.body.public_email], [200, email]);
  assert.equal((await as('admin').get('/users', { search: email })).body[0].id, id);
  assert.equal((await recipientFor(here.db, id, email))?.address, email);

  assert.equal((await as('guest').delete(`/user/emails/${added.id}`)).status, 204);
  const own = (await as('guest').get('/user')).body;
  assert.deepEqual([own.public_email, own.commit_email], ['', `${username}@example.com`]);
  assert.equal((await recipientFor(here.db, id, email))?.address, `${username}@example.com`);
  assert.equal((await open(here, link)).status, 404);
});

test('a deleted address gets no mail, and a forged link does not work', async () => {
  const here = await world();
  const { as, people, services } = here;
  const { id } = (await as('guest').post('/user/emails', { email: `gone-${people.guest.username}@example.com` })).body;
  await as('guest').delete(`/user/emails/${id}`);
  assert.deepEqual(await mailOf(services, jobs), []);
  const path = `${here.url}/-/profile/emails/confirmation`;
  for (const query of [
    '',
    '?confirmation_token=',
    '?confirmation_token=x',
    '?confirmation_token[]=x',
    '?confirmation_token=%00',
    '?%',
  ]) {
    const page = await fetch(`${path}${query}`);
    assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'], query);
  }
  const other = services.secrets.linkToken('something else', crypto.randomUUID());
  assert.equal((await fetch(`${path}?confirmation_token=${other}`)).status, 404);
  for (const body of ['', 'confirmation_token=x', 'confirmation_token[]=x']) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal((await fetch(path, { method: 'POST', headers, body })).status, 404, body);
  }
});

test('a link expires after three days and offers another one', async () => {
  const here = await world();
  const { as, people, services, db } = here;
  const email = `late-${people.guest.username}@example.com`;
  const { id } = (await as('guest').post('/user/emails', { email })).body;
  const link = linkIn((await mailOf(services, [confirmEmail]))[0]!);
  await sql`update emails set confirmation_sent_at = now() - interval '3 days 1 second' where id = ${id}`.execute(db);
  const expired = await open(here, link);
  assert.equal(expired.status, 410);
  const token = /name="confirmation_token" value="([^"]+)"/.exec(await expired.text())?.[1];
  assert.equal(token, link.searchParams.get('confirmation_token'));
  assert.equal((await as('guest').get(`/user/emails/${id}`)).body.confirmed_at, null);

  const again = () =>
    fetch(`${here.url}${link.pathname}`, { method: 'POST', body: new URLSearchParams({ confirmation_token: token! }) });
  assert.equal((await again()).status, 200);
  assert.equal((await again()).status, 404, 'one message for each expired link');
  const mails = await mailOf(services, [confirmEmail]);
  assert.equal(mails.length, 1);
  assert.equal((await open(here, link)).status, 404);
  assert.equal((await open(here, linkIn(mails[0]!))).status, 200);
  assert.notEqual((await as('guest').get(`/user/emails/${id}`)).body.confirmed_at, null);
});
