import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import type { SMTPServerOptions } from 'smtp-server';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { mailbox, mailOf } from '../../../../test/support/mail.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { mailerFor } from '../../../mail/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { collectNotifications, removeOldNotifications, sendNotification, sendNotifications } from './index.ts';

const watchers: Persona[] = ['guest', 'reporter', 'developer'];

/** An issue whose comments three people watch; a comment leaves a job to send to them. */
async function watchedIssue(here: World) {
  const { as, project } = here;
  for (const persona of watchers)
    await as(persona).put(`/projects/${project.id}/notification_settings`, { level: 'watch' });
  const { iid } = (await as('owner').post(`/projects/${project.id}/issues`, { title: 'Prune the trees' })).body;
  await mailOf(here.services, [collectNotifications, sendNotification]);
  return {
    issue: `/projects/${project.id}/issues/${iid}`,
    comment: async (body = 'News', persona: Persona = 'owner') => {
      assert.equal((await as(persona).post(`/projects/${project.id}/issues/${iid}/notes`, { body })).status, 201);
      await performQueued(here.services, [collectNotifications]);
    },
  };
}

/** Mail servers with their troubles, and what has come through. */
async function post(t: TestContext, here: World, options: SMTPServerOptions) {
  const { url, received } = await mailbox(t, options);
  const servicesTo = (smtpUrl: string): JobServices => ({
    ...here.services,
    mailer: mailerFor({ smtpUrl, from: { name: 'Coppice', address: 'forge@coppice.test' }, folder: '/nonexistent' }),
  });
  const people = Object.entries(here.people).map(([persona, { username }]) => [username, persona] as const);
  return {
    /** Tries to send what waits; the job stays when that fails. */
    send: async (smtpUrl = url) => {
      const { rows } = await sql<{ id: string; payload: object }>`
        select id, payload from graphile_worker._private_jobs
         where task_id = (select id from graphile_worker._private_tasks where identifier = ${sendNotification.name}) order by id`.execute(
        here.db,
      );
      for (const { id, payload } of rows) {
        await performJob(servicesTo(smtpUrl), sendNotification, payload);
        await sql`delete from graphile_worker._private_jobs where id = ${id}`.execute(here.db);
      }
    },
    /** Who has got a message since the last call, in order. */
    news: () =>
      received
        .splice(0)
        .map(({ recipients }) => people.find(([username]) => recipients[0]!.startsWith(`${username}@`))![1])
        .sort(),
  };
}

/** The address of a server that closes the connection in the middle of each message. */
async function serverThatDropsMessages(t: TestContext): Promise<string> {
  const server = createServer((socket) => {
    let receives = false;
    socket.on('error', () => {});
    socket.on('data', (given) => {
      if (receives) return socket.destroy();
      receives = /^DATA/im.test(given.toString());
      return socket.write(receives ? '354 go on\r\n' : '250 fine\r\n');
    });
    socket.write('220 hello\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refusal = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode });

test('an address that is refused for good gets no more mail until it is chosen or confirmed again, and the others get theirs', async (t) => {
  const here = await world();
  const { comment } = await watchedIssue(here);
  const { username } = here.people.developer;
  let answer: Error | undefined;
  let tries = 0;
  const { send, news } = await post(t, here, {
    onRcptTo: ({ address }, _session, done) => {
      if (!address.startsWith(`${username}@`)) return done();
      tries += 1;
      done(answer);
    },
  });
  const refused = async (error: Error) => {
    tries = 0;
    answer = error;
    await comment();
    await send();
    assert.deepEqual([news(), tries], [['guest', 'reporter'], 1], error.message);
    answer = undefined;
    await comment('More');
    await send();
    assert.deepEqual([news(), tries], [['guest', 'reporter'], 1], 'the address is left alone');
  };
  const own = '/notification_settings';
  await refused(refusal(550, '5.1.1 No such user'));
  const { notification_email } = (await here.as('developer').get(own)).body;
  assert.equal((await here.as('developer').put(own, { notification_email: 'nobody@example.com' })).status, 400);
  await comment();
  await send();
  assert.deepEqual(news(), ['guest', 'reporter']);
  assert.equal((await here.as('developer').put(own, { notification_email })).status, 200);
  await comment();
  await send();
  assert.deepEqual(news(), watchers.toSorted());
  await refused(refusal(553, 'mailbox name not allowed'));
});

test('whatever the mail server does, each recipient gets the message, and once', async (t) => {
  const here = await world();
  const { comment } = await watchedIssue(here);
  const { username } = here.people.developer;
  let answer: Error | undefined;
  const { send, news } = await post(t, here, {
    onRcptTo: ({ address }, _session, done) => done(address.startsWith(`${username}@`) ? answer : undefined),
  });
  for (const temporary of [
    refusal(451, '4.2.0 try later'),
    refusal(552, '5.2.2 mailbox full'),
    refusal(550, '5.7.1 we do not like the sender'),
  ]) {
    await comment();
    answer = temporary;
    await assert.rejects(send(), new RegExp(temporary.message.slice(6)));
    assert.deepEqual(news(), ['guest', 'reporter']);
    answer = undefined;
    await send();
    assert.deepEqual(news(), ['developer']);
  }

  await comment();
  await assert.rejects(send('smtp://127.0.0.1:1'), /ECONNREFUSED/);
  await assert.rejects(send(await serverThatDropsMessages(t)), /closed/);
  assert.deepEqual(news(), []);
  await send();
  assert.deepEqual(news(), watchers.toSorted(), 'after it was down and had dropped connections');
  await send();
  assert.deepEqual(news(), []);
});

test('interrupted work is done exactly once after a crash', async (t) => {
  const here = await world();
  const { comment } = await watchedIssue(here);
  const { send, news } = await post(t, here, {});
  await comment();
  const { rows } = await sql<{
    id: string;
  }>`select distinct notification_id as id from notification_recipients`.execute(here.db);
  assert.equal(rows.length, 1);
  // The process ended after the commit, before the queue knew.
  await performJob(here.services, sendNotifications, { id: rows[0]!.id });
  // Of three, one had been sent to and forgotten.
  await here.db.deleteFrom('notification_recipients').where('user_id', '=', here.people.guest.id).execute();
  await send();
  assert.deepEqual(news(), ['developer', 'reporter']);

  await comment();
  await here.as('owner').put(`/projects/${here.project.id}`, { issues_access_level: 'disabled' });
  await send();
  assert.deepEqual(news(), [], 'it can no longer be read');
  const left = await here.db.selectFrom('notification_recipients').selectAll().execute();
  assert.deepEqual(left, []);
});

test('a notification whose recipients cannot be found delays no others', async (t) => {
  const here = await world({});
  const { issue } = await watchedIssue(here);
  const { send, news } = await post(t, here, {});
  const { id } = (await here.as('owner').get(issue)).body;
  const impossible = { event: 'nothing of the kind', target_type: 'Issue', target_id: id };
  await here.db.insertInto('notifications').values(impossible).execute();
  await here.as('owner').post(`${issue}/notes`, { body: 'News' });
  await performQueued(here.services, [collectNotifications]);
  assert.deepEqual(news(), []);
  const [first, second, ...more] = await here.db
    .selectFrom('notifications')
    .select('id')
    .orderBy('created_at')
    .execute();
  assert.deepEqual(more, []);
  await assert.rejects(performJob(here.services, sendNotifications, first!), TypeError);
  await performJob(here.services, sendNotifications, second!);
  await send();
  assert.deepEqual(news(), watchers.toSorted());
});

test('a user gets 1,000 messages about a project in a day', async (t) => {
  const here = await world();
  const { comment } = await watchedIssue(here);
  const { send, news } = await post(t, here, {});
  await comment();
  await send();
  news();
  const counts = here.db.updateTable('notification_counts').where('user_id', '=', here.people.developer.id);
  await counts.set({ messages: 999 }).execute();
  for (const expected of [watchers.toSorted(), ['guest', 'reporter']]) {
    await comment();
    await send();
    assert.deepEqual(news(), expected);
  }
  await performJob(here.services, removeOldNotifications);
  await comment();
  await send();
  assert.deepEqual(news(), ['guest', 'reporter'], 'the day is not over');
  await counts.set({ began_at: sql`now() - interval '1 day'` }).execute();
  await comment();
  await send();
  assert.deepEqual(news(), watchers.toSorted());
  await counts.set({ messages: 1000, began_at: sql`now() - interval '1 day'` }).execute();
  await performJob(here.services, removeOldNotifications);
  await comment();
  await send();
  assert.deepEqual(news(), watchers.toSorted());
});

test('users are notified of their own actions if they choose so', async () => {
  const here = await world();
  const { comment } = await watchedIssue(here);
  const news = async () =>
    (await mailOf(here.services, [sendNotification])).map(({ to, headers }) => [
      to.address.split('@')[0],
      headers!['X-Service-NotificationReason'],
    ]);
  const others = watchers.map((persona) => [here.people[persona].username, undefined]).sort();
  await comment();
  assert.deepEqual((await news()).sort(), others);
  const set = await here.as('owner').put('/user/preferences', { notified_of_own_activity: true });
  assert.deepEqual([set.status, set.body.notified_of_own_activity], [200, true]);
  await comment();
  assert.deepEqual((await news()).sort(), [...others, [here.people.owner.username, 'own_activity']].sort());
  await here.as('owner').put('/notification_settings', { level: 'disabled' });
  await comment();
  assert.deepEqual((await news()).sort(), others, 'the level still counts');
});

test('mail about items in a group goes to the address chosen for the nearest group', async () => {
  const here = await world();
  const { comment } = await watchedIssue(here);
  const { id } = here.people.guest;
  const addresses = ['everywhere', 'group'].map((name) => `${name}-${here.people.guest.username}@example.com`);
  for (const email of addresses)
    assert.equal((await here.as('admin').post(`/users/${id}/emails`, { email, skip_confirmation: true })).status, 201);
  const addressOfGuest = async () => {
    await comment();
    const mails = await mailOf(here.services, [sendNotification]);
    return mails.map(({ to }) => to.address).find((address) => address.includes(here.people.guest.username));
  };
  const primary = await addressOfGuest();
  const guest = here.as('guest');
  const [everywhere, ofGroup] = addresses;
  const ofThis = `/groups/${here.group.id}/notification_settings`;
  assert.equal((await guest.put('/notification_settings', { notification_email: everywhere })).status, 200);
  assert.equal(await addressOfGuest(), everywhere);
  const set = await guest.put(ofThis, { notification_email: ofGroup });
  assert.deepEqual([set.status, set.body], [200, { level: 'global', notification_email: ofGroup }]);
  assert.equal(await addressOfGuest(), ofGroup);
  assert.equal((await guest.put(ofThis, { notification_email: 'nobody@example.com' })).status, 400);
  assert.equal((await guest.put(ofThis, { notification_email: primary })).status, 200);
  assert.equal(await addressOfGuest(), primary);
  assert.deepEqual((await guest.put(ofThis, { notification_email: null })).body, { level: 'global' });
  assert.equal(await addressOfGuest(), everywhere);
});
