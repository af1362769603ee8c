import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { testDatabase } from '../../../../test/support/database.ts';
import { performJob } from '../../../../test/support/jobs.ts';
import { mailbox } from '../../../../test/support/mail.ts';
import { world } from '../../../../test/support/world.ts';
import { startWorker } from '../../../jobs/index.ts';
import { mailerFor } from '../../../mail/index.ts';
import { confirmEmail, removeUnconfirmedEmails, tellOfNewEmail } from './jobs.ts';

const log = pino({ level: 'silent' });
const from = { name: 'Coppice', address: 'forge@coppice.test' };

test('a message that no server accepts is queued again, and is sent later', async (t) => {
  const { as, people, services, db } = await world({});
  const { connectionString } = await testDatabase();
  const refused = Promise.withResolvers<void>();
  const closed = await mailbox(t, {
    onRcptTo: (_address, _session, done) => {
      refused.resolve();
      done(Object.assign(new Error('try again later'), { responseCode: 451 }));
    },
  });
  const openly = await mailbox(t);
  const jobs = [confirmEmail];
  const run = (smtpUrl: string) => {
    const mailer = mailerFor({ smtpUrl, from, folder: '/nonexistent' });
    return startWorker({ connectionString, jobs, services: { ...services, mailer }, log, concurrency: 2 });
  };
  const email = `queued-${people.guest.username}@example.com`;
  const { id } = (await as('guest').post('/user/emails', { email })).body;

  const first = await run(closed.url);
  await refused.promise;
  await first.stop(5000);
  const { rows } = await sql<{ attempts: number; last_error: string; payload: object }>`
    select attempts, last_error, payload from graphile_worker._private_jobs
     where task_id = (select id from graphile_worker._private_tasks where identifier = 'confirm_email')`.execute(db);
  assert.equal(rows.length, 1);
  assert.match(rows[0]!.last_error, /try again later/);
  assert.deepEqual([rows[0]!.attempts, rows[0]!.payload], [1, { email_id: id }]);

  await sql`update graphile_worker._private_jobs set run_at = now() where payload::jsonb = ${JSON.stringify({ email_id: id })}`.execute(
    db,
  );
  const second = await run(openly.url);
  while (openly.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await second.stop(5000);
  const [mail] = openly.received;
  assert.deepEqual(mail!.recipients, [email]);
  const [link] = /http:\/\/coppice\.test\/-\/profile\/emails\/confirmation\?confirmation_token=[\w-]{43}/.exec(
    mail!.text!,
  )!;
  assert.ok(mail!.html!.includes(`href="${link}"`));
  const left = await sql`select from graphile_worker._private_jobs
    where task_id = (select id from graphile_worker._private_tasks where identifier = 'confirm_email')`.execute(db);
  assert.deepEqual(left.rows, []);
});

test('a retried message has the same ID', async (t) => {
  const { as, people, services } = await world();
  const { url, received } = await mailbox(t);
  const mailer = mailerFor({ smtpUrl: url, from, folder: '/nonexistent' });
  const { id } = (await as('guest').post('/user/emails', { email: `twice-${people.guest.username}@example.com` })).body;
  for (const job of [confirmEmail, confirmEmail, tellOfNewEmail])
    await performJob({ ...services, mailer }, job, { email_id: id });
  const [one, two, other] = received.map(({ messageId }) => messageId);
  assert.equal(one, two);
  assert.notEqual(one, other);
});

test('unconfirmed addresses are deleted after three days, primary ones never', async () => {
  const { as, people, services, db } = await world();
  const { id, username } = people.guest;
  const add = async (name: string) =>
    (await as('guest').post('/user/emails', { email: `${name}-${username}@example.com` })).body.id;
  const [old, young] = [await add('old'), await add('young')];
  const known = await as('admin').post(`/users/${id}/emails`, {
    email: `known-${username}@example.com`,
    skip_confirmation: true,
  });
  await as('admin').put(`/users/${id}`, { email: `next-${username}@example.com` });
  await as('admin').put(`/users/${people.planner.id}`, { email: `next-${people.planner.username}@example.com` });
  await sql`update users set confirmed_at = null where id = ${id}`.execute(db);
  await sql`update emails set confirmation_sent_at = now() - interval '3 days 1 second' where user_id = ${id} and id <> ${young}`.execute(
    db,
  );
  await sql`update users set unconfirmed_email_sent_at = now() - interval '3 days 1 second' where id = ${id}`.execute(
    db,
  );
  await sql`update claimed_emails set claimed_at = now() - interval '3 days 1 second' where user_id = ${id}`.execute(
    db,
  );

  const before = (await as('guest').get('/user/emails')).body as { id: number }[];
  assert.deepEqual(
    before.slice(1).map((row) => row.id),
    [old, young, known.body.id],
  );
  await performJob(services, removeUnconfirmedEmails);
  const after = (await as('guest').get('/user/emails')).body;
  assert.deepEqual(
    after,
    before.filter((row) => row.id !== old),
  );
  const waiting = await db
    .selectFrom('users')
    .select('unconfirmed_email')
    .where('id', 'in', [id, people.planner.id])
    .orderBy('id')
    .execute();
  assert.deepEqual(waiting, [
    { unconfirmed_email: null },
    { unconfirmed_email: `next-${people.planner.username}@example.com` },
  ]);
  const again = await as('guest').post('/user/emails', { email: `old-${username}@example.com` });
  const reason = 'was not confirmed within 3 days and cannot be added again for 30 days';
  assert.deepEqual([again.status, again.body], [400, { message: { email: [reason] } }]);
  const primary = await as('admin').put(`/users/${id}`, { email: `next-${username}@example.com` });
  assert.deepEqual([primary.status, primary.body], [400, { message: { email: [reason] } }]);
  const free = await as('planner').post('/user/emails', { email: `old-${username}@example.com` });
  assert.equal(free.status, 201);
});

test('nobody holds the address of another person by deleting and adding it again and again', async () => {
  const { as, people, services, db } = await world();
  const email = `held-${people.guest.username}@example.com`;
  const add = () => as('guest').post('/user/emails', { email });
  const remove = async (id: number) => assert.equal((await as('guest').delete(`/user/emails/${id}`)).status, 204);
  const age = (days: number) =>
    sql`update claimed_emails set claimed_at = claimed_at - make_interval(days => ${days}) where user_id = ${people.guest.id}`.execute(
      db,
    );
  await remove((await add()).body.id);
  const second = await add();
  assert.equal(second.status, 201, 'a mistake can be corrected');
  await age(2);
  await remove(second.body.id);
  const third = await add();
  assert.equal(third.status, 201);
  await age(2);
  await remove(third.body.id);
  assert.equal((await add()).status, 400);
  await age(28);
  await performJob(services, removeUnconfirmedEmails);
  assert.equal((await add()).status, 400);
  await age(2);
  const last = await add();
  assert.equal(last.status, 201, 'after the pause');
  await remove(last.body.id);
  await age(4);
  const known = await as('admin').post(`/users/${people.guest.id}/emails`, { email, skip_confirmation: true });
  assert.equal(known.status, 201, 'administrators vouch for an address at any time');
  await remove(known.body.id);
  assert.equal((await add()).status, 201, 'what was confirmed can be added again');
});
