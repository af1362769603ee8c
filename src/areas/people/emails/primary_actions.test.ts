import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Answer, clientOf } from '../../../../test/support/client.ts';
import { linkIn, mailOf } from '../../../../test/support/mail.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { recipientFor } from '../../../access/index.ts';
import { createUser } from '../users/actions.ts';
import { confirmEmail, confirmNewPrimary, tellOfNewEmail, tellOfPrimaryChange, tellOfPrimaryRequest } from './jobs.ts';
import { changePrimaryEmail } from './primary_actions.ts';
import { confirmedAddresses } from './queries.ts';

const jobs = [confirmEmail, confirmNewPrimary, tellOfNewEmail, tellOfPrimaryChange, tellOfPrimaryRequest];

const open = ({ url }: World, link: URL) => fetch(`${url}${link.pathname}${link.search}`);

/** The queued mail, ordered by address and subject. */
async function mailsOf({ services }: World) {
  const mails = await mailOf(services, jobs);
  return mails.sort((one, other) => one.to.address.localeCompare(other.to.address));
}
const headersOf = (mails: Awaited<ReturnType<typeof mailsOf>>) => mails.map(({ to, subject }) => [to.address, subject]);

const addressesOf = async ({ as }: World, id: number) =>
  ((await as('admin').get(`/users/${id}/emails`)).body as { email: string; confirmed_at: string | null }[]).map(
    ({ email, confirmed_at }) => [email, confirmed_at !== null],
  );

test('a new user is asked to confirm their address, and gets no other mail until then', async () => {
  const here = await world();
  const { as, db } = here;
  const username = `new-${here.group.id}`;
  const email = `${username}@example.com`;
  await mailsOf(here);
  const given = { username, name: 'New', email: `${username}@Example.com`, force_random_password: true };
  const { body: user } = await as('admin').post('/users', given);
  assert.equal(user.confirmed_at, null);
  const mails = await mailsOf(here);
  assert.deepEqual(headersOf(mails), [[email, 'Confirm your email address']]);
  const link = linkIn(mails[0]!);
  assert.equal(link.pathname, '/users/confirmation');
  assert.equal(await recipientFor(db, user.id), undefined);
  assert.deepEqual(await confirmedAddresses(db, user.id), []);
  assert.equal((await as('admin').put(`/users/${user.id}`, { commit_email: email })).status, 400);

  const token = (await as('admin').post(`/users/${user.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }))
    .body.token;
  const client = clientOf(`${here.url}/api/v4`, token);
  await as('admin').put('/application/settings', { email_confirmation_setting: 'hard' });
  assert.equal((await client.get('/user')).status, 403);
  assert.equal((await open(here, link)).status, 200);
  assert.equal((await client.get('/user')).status, 200);
  await as('admin').put('/application/settings', { email_confirmation_setting: 'off' });

  assert.deepEqual(await addressesOf(here, user.id), [[email, true]]);
  assert.equal((await client.get('/user')).body.confirmed_at, (await client.get('/user/emails')).body[0].confirmed_at);
  assert.deepEqual(await recipientFor(db, user.id), { name: 'New', address: email });
  assert.deepEqual(await confirmedAddresses(db, user.id), [email]);
  assert.equal((await as('admin').put(`/users/${user.id}`, { commit_email: email })).status, 200);

  const skipped = { username: `${username}-2`, name: 'New', email: `2-${email}`, force_random_password: true };
  await as('admin').post('/users', { ...skipped, skip_confirmation: true });
  assert.deepEqual(await mailsOf(here), []);
});

test('a new primary address waits for its confirmation, and the old one is notified and stays', async () => {
  const here = await world();
  const { as, people } = here;
  const { id, username } = people.guest;
  const [old, next] = [`${username}@example.com`, `next-${username}@example.com`];
  await mailsOf(here);
  assert.equal((await as('admin').put(`/users/${id}`, { email: next })).body.email, old);
  assert.deepEqual(await addressesOf(here, id), [[old, true]]);
  const asked = await mailsOf(here);
  assert.deepEqual(headersOf(asked), [
    [old, 'A change of your primary email address was requested'],
    [next, 'Confirm your email address'],
  ]);

  assert.equal((await open(here, linkIn(asked[1]!))).status, 200);
  const own = (await as('guest').get('/user')).body;
  assert.deepEqual([own.email, own.commit_email], [next, next]);
  assert.deepEqual(await addressesOf(here, id), [
    [old, true],
    [next, true],
  ]);
  assert.deepEqual(headersOf(await mailsOf(here)), [[old, 'Your primary email address has changed']]);
  assert.match(await (await open(here, linkIn(asked[1]!))).text(), /was confirmed before/);
});

test('an expired link does not change the primary address, until another link is requested', async () => {
  const here = await world();
  const { as, people, db, services } = here;
  const { id, username } = people.guest;
  const next = `late-${username}@example.com`;
  await as('admin').put(`/users/${id}`, { email: next });
  const link = linkIn((await mailOf(services, [confirmNewPrimary]))[0]!);
  await sql`update users set unconfirmed_email_sent_at = now() - interval '3 days 1 second' where id = ${id}`.execute(
    db,
  );
  assert.equal((await open(here, link)).status, 410);
  assert.equal((await as('guest').get('/user')).body.email, `${username}@example.com`);
  const body = new URLSearchParams({ confirmation_token: link.searchParams.get('confirmation_token')! });
  assert.equal((await fetch(`${here.url}${link.pathname}`, { method: 'POST', body })).status, 200);
  assert.equal((await open(here, link)).status, 404);
  const again = linkIn((await mailOf(services, [confirmNewPrimary]))[0]!);
  assert.equal((await open(here, again)).status, 200);
  assert.equal((await as('guest').get('/user')).body.email, next);
});

test('a confirmed address becomes the primary one at once, and an unconfirmed one when it is confirmed', async () => {
  const here = await world();
  const { as, people } = here;
  const { id, username } = people.guest;
  const url = `/users/${id}`;
  const [old, known, unknown] = ['', 'known-', 'unknown-'].map((prefix) => `${prefix}${username}@example.com`);
  const second = (await as('admin').post(`${url}/emails`, { email: known, skip_confirmation: true })).body;
  await as('guest').post('/user/emails', { email: unknown });
  await mailsOf(here);

  const waiting = await as('admin').put(url, { email: unknown, name: 'Renamed' });
  assert.deepEqual([waiting.body.email, waiting.body.name], [old, 'Renamed']);
  const changed = (await as('admin').put(url, { email: known!.toUpperCase() })).body;
  assert.deepEqual([changed.email, changed.confirmed_at], [known, second.confirmed_at]);
  const mails = await mailsOf(here);
  // The former new address is no longer pending.
  assert.deepEqual(headersOf(mails), [[old, 'Your primary email address has changed']]);
  assert.deepEqual(await addressesOf(here, id), [
    [old, true],
    [known, true],
    [unknown, false],
  ]);
  const refused = await as('guest').delete(`/user/emails/${second.id}`);
  assert.deepEqual([refused.status, refused.body.message], [400, 'Cannot delete primary email']);
  const [first] = (await as('guest').get('/user/emails')).body;
  assert.equal((await as('guest').delete(`/user/emails/${first.id}`)).status, 204);

  const vouched = await as('admin').put(url, { email: unknown, skip_reconfirmation: true });
  assert.deepEqual(
    [vouched.body.email, await addressesOf(here, id)],
    [
      unknown,
      [
        [known, true],
        [unknown, true],
      ],
    ],
  );
});

test('an address of another user, primary or not, is refused', async () => {
  const here = await world();
  const { as, people } = here;
  const { username } = people.guest;
  const email = `claimed-${username}@example.com`;
  await as('admin').post(`/users/${people.guest.id}/emails`, { email, skip_confirmation: true });
  await mailsOf(here);
  const conflict = { message: 'Email has already been taken' };
  for (const taken of [email, email.toUpperCase(), `${username}@example.com`]) {
    const account = { username: `other-${username}`, name: 'x', email: taken, force_random_password: true };
    const answers = [await as('admin').post('/users', account)];
    answers.push(await as('admin').put(`/users/${people.planner.id}`, { email: taken }));
    answers.push(await as('admin').put(`/users/${people.planner.id}`, { email: taken, skip_reconfirmation: true }));
    for (const { status, body } of answers) assert.deepEqual([status, body], [409, conflict]);
  }
  assert.deepEqual(await mailsOf(here), []);
  assert.deepEqual(await addressesOf(here, people.planner.id), [[`${people.planner.username}@example.com`, true]]);
});

test('an address that another user added at the same moment, and confirmed, stays with them', async () => {
  const here = await world();
  const { as, people, services } = here;
  const email = `wanted-${people.guest.username}@example.com`;
  await as('admin').put(`/users/${people.guest.id}`, { email });
  const link = linkIn((await mailOf(services, [confirmNewPrimary]))[0]!);
  const added = { user_id: people.planner.id, email, confirmed_at: sql<string>`now()` };
  await here.db.insertInto('emails').values(added).execute();
  const refused = await open(here, link);
  assert.equal(refused.status, 409);
  assert.ok(
    (await refused.text()).includes(
      `${email} belongs to another account by now. The addresses of your account stay as they are.`,
    ),
  );
  assert.equal((await as('guest').get('/user')).body.email, `${people.guest.username}@example.com`);
  assert.ok((await confirmedAddresses(here.db, people.planner.id)).includes(email));
});

test('of many concurrent claims to one address, in any case, only one is kept', async () => {
  const here = await world({});
  const { as, people, db } = here;
  const persons = await Promise.all(Array.from({ length: 6 }, () => here.person()));
  const ids = persons.map(({ id }) => id);
  for (let round = 0; round < 5; round += 1) {
    const email = `race-${here.group.id}-${round}@example.com`;
    const variants = [email, email.toUpperCase(), email.replace('race', 'Race')];
    const variant = (index: number) => variants[index % variants.length]!;
    const account = (index: number) => ({
      username: `racer-${here.group.id}-${round}-${index}`,
      name: 'x',
      email: variant(index),
      force_random_password: true,
      skip_confirmation: index % 2 === 0,
    });
    const claims: Promise<Answer>[] = [
      ...persons.slice(0, 3).map(({ client }, index) => client.post('/user/emails', { email: variant(index) })),
      ...ids
        .slice(0, 4)
        .map((id, index) =>
          as('admin').post(`/users/${id}/emails`, { email: variant(index), skip_confirmation: true }),
        ),
      ...ids.map((id, index) => as('admin').put(`/users/${id}`, { email: variant(index), skip_reconfirmation: true })),
      ...[1, 2, 3, 4].map((index) => as('admin').post('/users', account(index))),
    ];
    const answers = await Promise.all(claims);
    for (const { status, body } of answers) {
      if (status === 400) assert.deepEqual(body, { message: { email: ['has already been taken'] } });
      else if (status === 409) assert.deepEqual(body, { message: 'Email has already been taken' });
      else assert.ok(status === 200 || status === 201, JSON.stringify(body));
    }
    const claimed = await db.selectFrom('emails').select('email').where('email', '=', email).execute();
    assert.equal(claimed.length, 1);
  }
  const { rows } = await sql<{ wrong: number }>`
    select count(*) as wrong from users full join (select * from emails where is_primary) emails on emails.user_id = users.id
     where users.id is null or emails.id is null or users.email <> emails.email or users.confirmed_at is distinct from emails.confirmed_at`.execute(
    db,
  );
  assert.equal(rows[0]!.wrong, 0);
  assert.equal(
    (await as('admin').get('/users', { search: `${people.guest.username}@example.com` })).body[0].id,
    people.guest.id,
  );
});

test('a user claims their primary address when they are created and whenever it changes', async () => {
  const { db, people } = await world();
  const username = `direct-${people.guest.id}`;
  const address = (name: string) => `${name}-${username}@example.com`;
  const id = await db
    .transaction()
    .execute((tx) => createUser(tx, { username, name: username, email: address('z'), confirmed: false }));
  const rows = () =>
    db
      .selectFrom('emails')
      .select(['email', 'is_primary', sql<boolean>`confirmed_at is not null`.as('confirmed')])
      .where('user_id', '=', id)
      .orderBy('id')
      .execute();
  const change = (email: string) => db.transaction().execute((tx) => changePrimaryEmail(tx, id, email, 'confirmed'));
  assert.deepEqual(await rows(), [{ email: address('z'), is_primary: true, confirmed: false }]);
  await change(address('a'));
  assert.deepEqual(await rows(), [{ email: address('a'), is_primary: true, confirmed: true }]);
  await change(address('b'));
  assert.deepEqual(await rows(), [
    { email: address('a'), is_primary: false, confirmed: true },
    { email: address('b'), is_primary: true, confirmed: true },
  ]);
  assert.deepEqual((await confirmedAddresses(db, id)).sort(), [address('a'), address('b')]);
  await change(address('a'));
  assert.deepEqual(await rows(), [
    { email: address('a'), is_primary: true, confirmed: true },
    { email: address('b'), is_primary: false, confirmed: true },
  ]);
  await assert.rejects(change(`${people.guest.username}@example.com`), /users_email_key/);
  await db
    .insertInto('emails')
    .values({ user_id: people.guest.id, email: address('c'), confirmed_at: sql<string>`now()` })
    .execute();
  await assert.rejects(
    change(address('C')),
    (error: { constraint?: string }) => error.constraint === 'emails_email_key',
  );
  await db.deleteFrom('users').where('id', '=', id).execute();
  assert.deepEqual(await rows(), []);
});

test('only active people get mail', async () => {
  const { db, person, as } = await world();
  const { id } = await person();
  assert.notEqual(await recipientFor(db, id), undefined);
  await as('admin').post(`/users/${id}/block`);
  assert.equal(await recipientFor(db, id), undefined);
  await as('admin').post(`/users/${id}/unblock`);
  assert.notEqual(await recipientFor(db, id), undefined);
  await db.updateTable('users').set({ user_type: 'project_bot' }).where('id', '=', id).execute();
  assert.equal(await recipientFor(db, id), undefined);
  assert.equal(await recipientFor(db, 99_999_999), undefined);
});
