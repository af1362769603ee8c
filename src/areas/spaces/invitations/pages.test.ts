import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { changePlan } from '../../../../test/support/licenses.ts';
import { linksIn, mailOf } from '../../../../test/support/mail.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { lockTree, passwordDigest, refreshAuthorizations } from '../../../access/index.ts';
import type { Mail } from '../../../mail/index.ts';
import { confirm } from '../../people/emails/confirmation_actions.ts';
import {
  acceptInvitations,
  remindInvited,
  remindOfInvitation,
  removeOldInvitations,
  tellOfAcceptance,
  tellOfRefusal,
  writeInvitation,
} from './index.ts';

let count = 0;
const address = () => `invited-${process.pid}-${++count}@example.org`;
const password = 'correct horse battery';
const letters = [writeInvitation, remindOfInvitation, tellOfAcceptance, tellOfRefusal];

const mailTo = async ({ services }: World, email: string): Promise<Mail[]> =>
  (await mailOf(services, letters)).filter(({ to }) => to.address === email);

const pathsIn = (mail: Mail) => linksIn(mail).map(({ pathname }) => pathname);

/** Invites an address to the project of a world. @returns the path of the page in the message */
async function invited(here: World, email: string, options: object = {}): Promise<string> {
  const { body } = await here
    .as('owner')
    .post(`/projects/${here.project.id}/invitations`, { email, access_level: 30, ...options });
  assert.deepEqual(body, { status: 'success' });
  const [mail] = await mailTo(here, email);
  return pathsIn(mail!)[0]!;
}

interface Shown {
  status: number;
  text: string;
  headers: Headers;
}

/** Requests a page like a browser. */
async function browse({ url }: World, path: string, form?: Record<string, string>, token?: string): Promise<Shown> {
  const headers = token === undefined ? {} : { 'private-token': token };
  const response = await fetch(
    `${url}${path}`,
    form ? { method: 'POST', headers, body: new URLSearchParams(form) } : { headers },
  );
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const levelIn = async ({ as, project }: World, user_id: number) =>
  (await as('owner').get(`/projects/${project.id}/members/${user_id}`)).body.access_level;
const pending = async ({ as, project }: World) =>
  (await as('owner').get(`/projects/${project.id}/invitations`)).body.length;

/** A person with a password and another address. */
async function personWith(here: World, email: string, confirmed: boolean) {
  const person = await here.person();
  await here.db
    .updateTable('users')
    .set({ password_digest: await passwordDigest(password) })
    .where('id', '=', person.id)
    .execute();
  const { id: email_id } = await here.db
    .insertInto('emails')
    .values({ user_id: person.id, email, confirmed_at: confirmed ? sql<string>`now()` : null })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { ...person, email_id };
}

async function settings(t: TestContext, here: World, changes: object) {
  const { status, body } = await here.as('admin').put('/application/settings', { ...changes });
  assert.equal(status, 200, JSON.stringify(body));
  t.after(async () => {
    await here.db.deleteFrom('application_settings').execute();
    await here.db.insertInto('application_settings').defaultValues().execute();
  });
}

test('the page describes the invitation, sends no referrer elsewhere, and escapes texts', async () => {
  const here = await world({});
  await here.db.updateTable('projects').set({ name: 'A & <b>' }).where('id', '=', here.project.id).execute();
  const email = address();
  const page = await invited(here, email, { expires_at: '2999-01-01' });
  const shown = await browse(here, page);
  assert.equal(shown.status, 200);
  for (const text of [
    'A &amp; &lt;b&gt;',
    here.project.full_path,
    'Developer',
    '2999-01-01',
    email,
    'Create an account',
  ])
    assert.ok(shown.text.includes(text), text);
  assert.ok(!shown.text.includes('<b>'));
  assert.equal(shown.headers.get('cache-control'), 'no-store');
  assert.equal(shown.headers.get('referrer-policy'), 'same-origin');
});

test('forged links and links of expired invitations answer 404', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  const wrong = `${page.slice(0, -2)}${page.at(-2) === 'A' ? 'B' : 'A'}${page.at(-1)}`;
  for (const path of [wrong, '/-/invites/x', `/-/invites/${'x'.repeat(43)}`, `/-/invites/${'%00'}`]) {
    const { status, headers } = await browse(here, path);
    assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'], path);
    assert.equal((await browse(here, `${path}/accept`, {}, here.people.outsider.token)).status, 404);
    assert.equal((await browse(here, `${path}/decline`)).status, 404);
  }
  const endAt = (expires_at: RawBuilder<string>) =>
    here.db.updateTable('invitations').set({ expires_at }).where('invite_email', '=', email).execute();
  await endAt(sql`now() + interval '1 minute'`);
  assert.equal((await browse(here, page)).status, 200);
  await endAt(sql`now()`);
  assert.equal((await browse(here, page)).status, 404);
  assert.equal(await pending(here), 0);
});

test('a user who confirmed the address accepts with their password, once, and the inviter is notified', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email, { expires_at: '2999-01-01T04:30:00Z' });
  const person = await personWith(here, email.toUpperCase(), true);

  const wrong = await browse(here, `${page}/accept`, { login: person.username, password: 'wrong' });
  assert.equal(wrong.status, 401);
  assert.equal((await browse(here, `${page}/accept`, { login: 'nobody-at-all', password })).status, 401);
  assert.equal((await browse(here, `${page}/accept`, {})).status, 401);
  assert.equal(await levelIn(here, person.id), undefined);

  const accepted = await browse(here, `${page}/accept`, { login: person.username, password });
  assert.equal(accepted.status, 200, accepted.text);
  assert.equal(await levelIn(here, person.id), 30);
  const { body } = await here.as('owner').get(`/projects/${here.project.id}/members/${person.id}`);
  assert.deepEqual([body.expires_at, body.created_by.id], ['2999-01-02', here.people.owner.id]);
  assert.equal(await pending(here), 0);
  const [received] = await mailTo(here, `${here.people.owner.username}@example.com`);
  assert.match(received!.subject, /accepted the invitation/);
  const joined = (await here.db.selectFrom('events').select('action').where('author_id', '=', person.id).execute()).map(
    ({ action }) => action,
  );
  assert.deepEqual(joined, ['joined']);
  assert.equal((await browse(here, `${page}/accept`, { login: person.username, password })).status, 404);
});

test('users who accept on the page are signed in there, and a form of another site signs nobody in', async () => {
  const here = await world({});
  const account = (name: string) => ({ username: `${name}-${process.pid}`, name: 'New Person', password });
  const answerFrom = async (site: string, path: string, form: Record<string, string>) =>
    fetch(`${here.url}${path}`, {
      method: 'POST',
      headers: { 'sec-fetch-site': site },
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
  const foreign = await answerFrom('cross-site', `${await invited(here, address())}/sign_up`, account('foreign'));
  assert.deepEqual([foreign.status, foreign.headers.getSetCookie()], [200, []]);

  const known = address();
  const invitation = await invited(here, known);
  const person = await personWith(here, known, true);
  for (const [path, form] of [
    [`${await invited(here, address())}/sign_up`, account('signed-in')],
    [`${invitation}/accept`, { login: person.username, password }],
  ] as const) {
    const made = await answerFrom('same-origin', path, form);
    assert.deepEqual([made.status, made.headers.get('location')], [303, `/${here.project.full_path}`], path);
    const cookie = made.headers.getSetCookie().map((each) => each.split(';', 1)[0]);
    const { status, text } = await fetch(`${here.url}${made.headers.get('location')}`, {
      headers: { cookie: cookie.join('; '), accept: 'text/html' },
    }).then(async (response) => ({ status: response.status, text: await response.text() }));
    assert.ok(status === 200 && text.includes('Sign out'), text);
  }
});

test('accounts that have not confirmed the address cannot accept', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  const person = await personWith(here, email, false);
  for (const answer of [
    await browse(here, `${page}/accept`, { login: person.username, password }),
    await browse(here, `${page}/accept`, {}, person.token),
    await browse(here, `${page}/accept`, {}, here.people.outsider.token),
  ]) {
    assert.equal(answer.status, 403);
    assert.ok(answer.text.includes(email), 'it names the address to confirm');
  }
  assert.equal(await levelIn(here, person.id), undefined);
  assert.equal(await pending(here), 1);

  // However it is confirmed, the address brings its invitations with it.
  const claim = here.db.selectFrom('emails').select('seed').where('id', '=', person.email_id);
  await confirm(here.db, (await claim.executeTakeFirstOrThrow()).seed);
  await performQueued(here.services, [acceptInvitations]);
  assert.equal(await levelIn(here, person.id), 30);
  assert.equal(await pending(here), 0);
});

test('a token with the scope api accepts as well', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  const person = await personWith(here, email, true);
  const { body } = await here
    .as('admin')
    .post(`/users/${person.id}/personal_access_tokens`, { name: 'reads', scopes: ['read_api'] });
  assert.equal((await browse(here, `${page}/accept`, {}, body.token)).status, 403);
  assert.equal((await browse(here, `${page}/accept`, {}, 'glpat-unknown')).status, 401);
  assert.equal(await levelIn(here, person.id), undefined);
  assert.equal((await browse(here, `${page}/accept`, {}, person.token)).status, 200);
  assert.equal(await levelIn(here, person.id), 30);
});

test('a user with a role there keeps it, and the invitation is answered', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email, { access_level: 20 });
  const { maintainer } = here.people;
  await here.db
    .insertInto('emails')
    .values({ user_id: maintainer.id, email, confirmed_at: sql<string>`now()` })
    .execute();
  const answer = await browse(here, `${page}/accept`, {}, maintainer.token);
  assert.equal(answer.status, 200);
  assert.ok(answer.text.includes('Already a member'));
  assert.equal(await pending(here), 0);
  assert.equal(await levelIn(here, maintainer.id), undefined, 'the role is still that of the group');
});

test('invited people create an account, even if another user has an unconfirmed claim to the address', async (t) => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  const claiming = await personWith(here, email, false);
  const username = `new-${process.pid}`;
  const account = { username, name: 'New Person', password };
  for (const [changes, status, text] of [
    [{ password: 'short' }, 400, 'Password is too short'],
    [{ username: 'a b' }, 400, 'Username'],
    [{ name: ' ' }, 400, 'Name can&#39;t be blank'],
    [{ name: 'a\0b' }, 400, 'Name can&#39;t be blank'],
    [{ username: here.people.guest.username }, 409, 'Username has already been taken'],
  ] as const) {
    const refused = await browse(here, `${page}/sign_up`, { ...account, ...changes });
    assert.equal(refused.status, status);
    assert.ok(refused.text.includes(text), refused.text);
    assert.ok(refused.text.includes('value="New Person"') || 'name' in changes, 'what was typed is kept');
    assert.ok(!refused.text.includes(password), 'but no password');
  }
  const short = await browse(here, `${page}/sign_up`, { ...account, password: 'short' });
  assert.match(short.text, /<p class="reason" id="sign_up-password-reason">Password is too short/);
  assert.equal(await pending(here), 1);
  const held = await here.db.selectFrom('emails').select('id').where('user_id', '=', claiming.id).execute();
  assert.equal(held.length, 2, 'refused requests change nothing');

  const made = await browse(here, `${page}/sign_up`, account);
  assert.equal(made.status, 200, made.text);
  const user = (await here.as('admin').get('/users', { username })).body[0];
  assert.deepEqual([user.email, user.confirmed_at !== null], [email, true]);
  assert.equal(await levelIn(here, user.id), 30);
  assert.equal((await browse(here, `${page}/sign_up`, { ...account, username: `${username}-2` })).status, 404);

  await settings(t, here, { signup_enabled: false });
  const other = await invited(here, address());
  assert.ok(!(await browse(here, other)).text.includes('Create an account'));
  assert.equal((await browse(here, `${other}/sign_up`, { ...account, username: `${username}-3` })).status, 403);
  await settings(t, here, { signup_enabled: true, domain_denylist_enabled: true, domain_denylist: ['example.org'] });
  const denied = await browse(here, `${other}/sign_up`, { ...account, username: `${username}-4` });
  assert.equal(denied.status, 403);
  assert.ok(denied.text.includes('Email is not allowed for sign-up.'));
  assert.equal(await pending(here), 1);
});

test('the link to decline asks first; declining deletes the invitation, and the inviter is notified once', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  const asked = await browse(here, `${page}/decline`);
  assert.equal(asked.status, 200);
  assert.ok(asked.text.includes(`<form method="post" action="${page}/decline"`), asked.text);
  assert.ok(asked.text.includes('<button class="danger">Decline</button>'));
  assert.equal(await pending(here), 1, 'following the link declines nothing');
  assert.equal((await browse(here, `${page}/decline`, {})).status, 200);
  assert.equal(await pending(here), 0);
  const received = await mailTo(here, `${here.people.owner.username}@example.com`);
  assert.deepEqual(
    received.map(({ subject }) => subject),
    [`${email} declined the invitation to ${here.project.path}`],
  );
  for (const form of [undefined, {}]) assert.equal((await browse(here, `${page}/decline`, form)).status, 404);
  assert.deepEqual(await here.db.selectFrom('declined_invitations').select('id').execute(), []);
});

test('passwords cannot be guessed: after ten attempts an account is locked for a while', async (t) => {
  const here = await world({});
  t.after(() => here.db.deleteFrom('request_counts').execute());
  await here.db.deleteFrom('request_counts').execute();
  const email = address();
  const page = await invited(here, email);
  const person = await personWith(here, email, true);
  // Both logins belong to one account.
  for (let attempt = 0; attempt < 10; attempt++) {
    const login = attempt % 2 === 0 ? person.username : email;
    assert.equal((await browse(here, `${page}/accept`, { login, password: 'wrong' })).status, 401);
  }
  const refused = await browse(here, `${page}/accept`, { login: person.username, password });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '600']);
  assert.equal(await pending(here), 1);
});

test('reminders are sent on the days that are due, and old invitations are deleted', async () => {
  const here = await world({});
  const [email, old, kept] = [address(), address(), address()];
  for (const each of [email, old, kept]) await invited(here, each);
  const age = (each: string, days: number) =>
    sql`update invitations set created_at = now() - make_interval(days => ${days}), remind_on = current_date + 2 - ${days}::integer
         where invite_email = ${each}`.execute(here.db);
  const remind = async () => {
    await performJob(here.services, remindInvited);
    return (await mailTo(here, email)).map(({ id }) => id.replace(/\d+/, 'N'));
  };
  assert.deepEqual(await remind(), []);
  await age(email, 2);
  assert.deepEqual(await remind(), ['invitation-N-reminder-1']);
  assert.deepEqual(await remind(), []);
  const { remind_on, created_at, reminders } = await here.db
    .selectFrom('invitations')
    .select(['remind_on', 'created_at', 'reminders'])
    .where('invite_email', '=', email)
    .executeTakeFirstOrThrow();
  assert.deepEqual([reminders, (Date.parse(remind_on!) - Date.parse(created_at.slice(0, 10))) / 86_400_000], [1, 5]);

  await age(old, 91);
  await here.db
    .updateTable('invitations')
    .set({ expires_at: sql<string>`current_date` })
    .where('invite_email', '=', email)
    .execute();
  await performJob(here.services, removeOldInvitations);
  const left = await here.db
    .selectFrom('invitations')
    .select('invite_email')
    .where('project_id', '=', here.project.id)
    .execute();
  assert.deepEqual(left, [{ invite_email: kept }]);
});

test('no mail is sent for a revoked invitation', async () => {
  const here = await world({});
  const email = address();
  const url = `/projects/${here.project.id}/invitations`;
  await here.as('owner').post(url, { email, access_level: 30 });
  await here.as('owner').delete(`${url}/${email}`);
  assert.deepEqual(await mailTo(here, email), []);
});

/** Ways for the owner of a project to lose the right to send an invitation: what ends it, and what the page says then. */
const endings: Record<string, { end: (here: World, inviter: number) => Promise<unknown>; reason: RegExp }> = {
  'who was demoted': {
    end: ({ as, project }, inviter) =>
      as('owner').put(`/projects/${project.id}/members/${inviter}`, { access_level: 20 }),
    reason: /can no longer give this role/,
  },
  'whose level is now below that of the invitation': {
    end: ({ as, project }, inviter) =>
      as('owner').put(`/projects/${project.id}/members/${inviter}`, { access_level: 40 }),
    reason: /can no longer give this role/,
  },
  'whose membership has expired': {
    end: async ({ db, project }, inviter) => {
      await sql`update members set expires_at = current_date where user_id = ${inviter}`.execute(db);
      await db.transaction().execute((tx) => refreshAuthorizations(tx, { project_id: project.id }, [inviter]));
    },
    reason: /can no longer give this role/,
  },
  'who was blocked': {
    end: ({ as }, inviter) => as('admin').post(`/users/${inviter}/block`),
    reason: /is no longer active/,
  },
  'who was deleted': {
    end: ({ db }, inviter) =>
      db.updateTable('invitations').set({ created_by_id: null }).where('created_by_id', '=', inviter).execute(),
    reason: /The account of the person who invited you is no longer active/,
  },
};

for (const [inviters, { end, reason }] of Object.entries(endings))
  test(`an invitation of a person ${inviters} is no longer valid, and the page shows the reason`, async () => {
    const here = await world({});
    const [inviter, email] = [await here.person(), address()];
    const members = `/projects/${here.project.id}/members`;
    assert.equal((await here.as('owner').post(members, { user_id: inviter.id, access_level: 50 })).status, 201);
    const url = `/projects/${here.project.id}/invitations`;
    assert.equal((await inviter.client.post(url, { email, access_level: 50 })).body.status, 'success');
    const [mail] = await mailTo(here, email);
    const page = pathsIn(mail!)[0]!;
    const account = { username: `invited-${here.project.id}`, name: 'Invited', password };

    await end(here, inviter.id);
    const guest = await personWith(here, email, true);
    const shown = await browse(here, page);
    assert.equal(shown.status, 409);
    assert.match(shown.text, reason);
    for (const answered of [
      await browse(here, `${page}/accept`, {}, guest.token),
      await browse(here, `${page}/sign_up`, account),
    ]) {
      assert.equal(answered.status, 409);
      assert.match(answered.text, reason);
    }
    await performJob(here.services, acceptInvitations, { email_id: guest.email_id });
    assert.equal((await here.as('owner').get(`${members}/${guest.id}`)).status, 404);
    assert.deepEqual((await here.as('admin').get('/users', { username: account.username })).body, []);

    // The person who updates it is the inviter from now on.
    assert.equal((await here.as('owner').put(`${url}/${email}`, { access_level: 50 })).status, 200);
    assert.equal((await browse(here, `${page}/accept`, {}, guest.token)).status, 200);
    assert.equal(await levelIn(here, guest.id), 50);
  });

test('an invitation by a member of an invited group ends with the share', async () => {
  const here = await world({});
  const [inviter, guest, email] = [await here.person(), here.people.outsider, address()];
  const path = `beside-${here.group.id}`;
  const { body: beside } = await here.as('owner').post('/groups', { name: path, path, visibility: 'public' });
  await here.as('owner').post(`/groups/${beside.id}/members`, { user_id: inviter.id, access_level: 50 });
  const share = { group_id: beside.id, group_access: 40 };
  assert.equal((await here.as('owner').post(`/projects/${here.project.id}/share`, share)).status, 201);
  const url = `/projects/${here.project.id}/invitations`;
  assert.equal((await inviter.client.post(url, { email, access_level: 30 })).body.status, 'success');
  const page = pathsIn((await mailTo(here, email))[0]!)[0]!;
  assert.equal((await browse(here, page)).status, 200);
  assert.equal((await here.as('owner').delete(`/projects/${here.project.id}/share/${beside.id}`)).status, 204);
  await here.db.insertInto('emails').values({ user_id: guest.id, email, confirmed_at: sql<string>`now()` }).execute();
  assert.equal((await browse(here, `${page}/accept`, {}, guest.token)).status, 409);
  assert.equal((await here.as('owner').get(`/projects/${here.project.id}/members/${guest.id}`)).status, 404);
});

test('the message has the description when the experiment is enabled', async (t) => {
  const here = await world({});
  await here.as('owner').put(`/projects/${here.project.id}`, { description: 'Everything about apples' });
  const textOf = async () => {
    const email = address();
    await here.as('owner').post(`/projects/${here.project.id}/invitations`, { email, access_level: 30 });
    return JSON.stringify(await mailTo(here, email));
  };
  assert.ok(!(await textOf()).includes('apples'));
  t.after(() => here.db.deleteFrom('features').execute());
  const set = await here.as('admin').post('/features/invitation_mail_preview', { value: true });
  assert.equal(set.status, 201, JSON.stringify(set.body));
  assert.ok((await textOf()).includes('Everything about apples'));
});

test('an invitation that is revoked while it is accepted is either revoked or accepted', async (t) => {
  const here = await world({});
  await settings(t, here, { seat_control: 'block_overages' });
  const email = address();
  const page = await invited(here, email);
  const person = await personWith(here, email, true);
  const answers: Promise<{ status: number }>[] = [];
  await here.db.transaction().execute(async (tx) => {
    // Requests for a seat wait for the settings.
    await tx.selectFrom('application_settings').select('id').forUpdate().execute();
    answers.push(browse(here, `${page}/accept`, {}, person.token));
    await untilLockWaits(here.db);
    const removed = here.as('owner').delete(`/projects/${here.project.id}/invitations/${email}`);
    answers.push(removed);
    await Promise.race([removed, untilLockWaits(here.db, 2)]);
  });
  const [accepted, removed] = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual([accepted, removed, await levelIn(here, person.id)], [200, 409, 30]);
});

test('signing up while the invitation is revoked creates no account', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  const username = `late-${process.pid}`;
  let made!: Promise<Shown>;
  await here.db.transaction().execute(async (tx) => {
    await lockTree(tx, here.group.id);
    made = browse(here, `${page}/sign_up`, { username, name: 'Late', password });
    await untilLockWaits(here.db);
    await here.db.deleteFrom('invitations').where('invite_email', '=', email).execute();
  });
  assert.equal((await made).status, 404);
  assert.deepEqual((await here.as('admin').get('/users', { username })).body, []);
});

test('declining an invitation that is answered at the same time is not reported as declined', async () => {
  const here = await world({});
  const email = address();
  const page = await invited(here, email);
  let declined!: Promise<Shown>;
  await here.db.transaction().execute(async (tx) => {
    await lockTree(tx, here.group.id);
    declined = browse(here, `${page}/decline`, {});
    await untilLockWaits(here.db);
    await here.db.deleteFrom('invitations').where('invite_email', '=', email).execute();
  });
  assert.equal((await declined).status, 404);
});

test('an invitation to minimal access stays open while the plan has none', async (t) => {
  const here = await world({});
  const email = address();
  const url = `/groups/${here.group.id}/invitations`;
  assert.deepEqual((await here.as('owner').post(url, { email, access_level: 5 })).body, { status: 'success' });
  const [mail] = await mailTo(here, email);
  const page = pathsIn(mail!)[0]!;
  const person = await personWith(here, email, true);
  t.after(() => changePlan(here, 'ultimate'));
  await changePlan(here, 'free');
  assert.equal((await browse(here, `${page}/accept`, {}, person.token)).status, 409);
  await changePlan(here, 'premium');
  assert.equal((await browse(here, `${page}/accept`, {}, person.token)).status, 200);
  const { body } = await here.as('owner').get(`/groups/${here.group.id}/members/${person.id}`);
  assert.equal(body.access_level, 5);
});

test('an invitation to a group stays pending while the group is archived or marked for deletion', async () => {
  const here = await world({});
  const { group, as, db } = here;
  const email = address();
  const url = `/groups/${group.id}/invitations`;
  assert.equal((await as('owner').post(url, { email, access_level: 30 })).body.status, 'success');
  const page = pathsIn((await mailTo(here, email))[0]!)[0]!;
  const guest = await personWith(here, email, true);
  for (const state of ['archived', 'marked_for_deletion_at'] as const) {
    const set = (value: unknown) =>
      sql`update namespaces set ${sql.ref(state)} = ${value} where id = ${group.id}`.execute(db);
    await set(state === 'archived' ? true : new Date());
    const refused = await browse(here, `${page}/accept`, {}, guest.token);
    assert.equal(refused.status, 409);
    assert.match(refused.text, /does not accept new members at the moment/);
    await set(state === 'archived' ? false : null);
    assert.equal((await as('owner').get(url)).body.length, 1);
  }
  assert.equal((await browse(here, `${page}/accept`, {}, guest.token)).status, 200);
  assert.equal((await as('owner').get(`/groups/${group.id}/members/${guest.id}`)).body.access_level, 30);
});
