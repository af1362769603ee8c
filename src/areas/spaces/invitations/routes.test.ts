import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { changePlan } from '../../../../test/support/licenses.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { addRole, personWith } from '../../../../test/support/member_roles.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { ghostUser } from '../../people/users/index.ts';
import { tellOfAccess, writeInvitation } from './index.ts';

const success = { status: 'success' };
let count = 0;
/** An address without a user. */
const address = () => `stranger-${process.pid}-${++count}@example.org`;
const urlOf = (here: World, kind: 'group' | 'project') => `/${kind}s/${here[kind].id}/invitations`;
/** The queued mail of these jobs to one address. All worlds of a file share one queue. */
const mailTo = async ({ services }: World, email: string) =>
  (await mailOf(services, [writeInvitation, tellOfAccess])).filter(({ to }) => to.address === email);
const list = async ({ as }: World, url: string) =>
  (await as('owner').get(url)).body.map(({ invite_email }: { invite_email: string }) => invite_email);

for (const kind of ['group', 'project'] as const) {
  test(`an invitation to a ${kind} is created, listed, updated and revoked`, async () => {
    const here = await world({});
    const [owner, url, email] = [here.as('owner'), urlOf(here, kind), address()];
    const invited = await owner.post(url, { email: email.toUpperCase(), access_level: 30, expires_at: '2999-01-02' });
    assert.deepEqual([invited.status, invited.body], [201, success]);
    const [invitation] = (await owner.get(url)).body;
    assert.deepEqual(invitation, {
      id: invitation.id,
      invite_email: email,
      created_at: invitation.created_at,
      access_level: 30,
      expires_at: '2999-01-02T00:00:00.000Z',
      user_name: null,
      created_by_name: here.people.owner.username.replaceAll('-', ' '),
    });

    const changed = await owner.put(`${url}/${encodeURIComponent(email)}`, { access_level: 20, expires_at: '' });
    assert.deepEqual([changed.status, changed.body], [200, { ...invitation, access_level: 20, expires_at: null }]);
    for (const [given, shown] of [
      ['2999-01-02T23:30:00-05:00', '2999-01-03T04:30:00.000Z'],
      ['2999-03-04', '2999-03-04T00:00:00.000Z'],
    ] as const) {
      const kept = await owner.put(`${url}/${encodeURIComponent(email)}`, { expires_at: given });
      assert.deepEqual([kept.status, kept.body.access_level, kept.body.expires_at], [200, 20, shown]);
    }

    const [mail, ...others] = await mailTo(here, email);
    assert.deepEqual(others, []);
    assert.deepEqual(mail!.to, { address: email });
    assert.match(mail!.subject, / invited you to join /);

    const early = { headers: { 'if-unmodified-since': new Date('2020-01-01').toUTCString() } };
    assert.equal((await owner.delete(`${url}/${encodeURIComponent(email)}`, undefined, early)).status, 412);
    const removed = await owner.delete(`${url}/${encodeURIComponent(email)}`);
    assert.deepEqual([removed.status, removed.body], [204, null]);
    assert.deepEqual((await owner.get(url)).body, []);
    for (const again of [
      await owner.delete(`${url}/${encodeURIComponent(email)}`),
      await owner.put(`${url}/${encodeURIComponent(email)}`, { access_level: 20 }),
    ])
      assert.deepEqual([again.status, again.body], [404, { message: '404 Not Found' }]);
  });

  test(`only members who manage a ${kind} create and see invitations`, async () => {
    const here = await world({});
    const [url, email] = [urlOf(here, kind), address()];
    await here.as('owner').post(url, { email, access_level: 30 });
    const helper = kind === 'group' ? 'maintainer' : 'developer';
    for (const [persona, status] of [
      [helper, 403],
      ['outsider', 404],
      ['anonymous', 401],
    ] as const) {
      const client = here.as(persona);
      assert.equal((await client.get(url)).status, status, persona);
      assert.equal((await client.post(url, { email: address(), access_level: 10 })).status, status, persona);
      assert.equal((await client.put(`${url}/${email}`, { access_level: 10 })).status, status, persona);
      assert.equal((await client.delete(`${url}/${email}`)).status, status, persona);
    }
    assert.deepEqual(await list(here, url), [email]);
    assert.equal((await here.as('owner').get(url)).body[0].access_level, 30);
  });
}

test('several people are invited at once, and failures are reported with the reason', async () => {
  const here = await world({});
  const [url, first, second, taken] = [urlOf(here, 'group'), address(), address(), address()];
  await here.as('owner').post(url, { email: taken, access_level: 10 });
  const bot = await here.as('owner').post(`/groups/${here.group.id}/access_tokens`, {
    ...{
      name: 'bot',
      scopes: ['api'],
      access_level: 30,
      expires_at: daysFromNow(30),
    },
  });
  const { username } = await here.db
    .selectFrom('users')
    .select('username')
    .where('id', '=', bot.body.user_id)
    .executeTakeFirstOrThrow();
  const ghost = { id: await ghostUser(here.services) };
  const invited = await here.as('owner').post(url, {
    email: [`${first} , ${second}`, `${taken.toUpperCase()}`, first.toUpperCase(), 'a(b@example.org'],
    user_id: `${here.people.outsider.id},${bot.body.user_id},999999999,9223372036854775808,${ghost.id}`,
    access_level: 20,
  });
  assert.equal(invited.status, 201);
  assert.deepEqual(invited.body, {
    status: 'error',
    message: {
      [username]: 'User project bots cannot be added to other groups / projects',
      [taken.toUpperCase()]: 'Invite email has already been taken',
      999999999: 'User not found',
      '9223372036854775808': 'User not found',
      ghost: 'User not found',
      'a(b@example.org': 'Invite email is invalid',
    },
  });
  assert.deepEqual(await list(here, url), [taken, first, second]);
  const member = await here.as('owner').get(`/groups/${here.group.id}/members/${here.people.outsider.id}`);
  assert.equal(member.body.access_level, 20);
  const [mail, ...others] = await mailTo(here, `${here.people.outsider.username}@example.com`);
  assert.deepEqual(others, []);
  const { full_path } = here.group;
  assert.deepEqual(mail!.paragraphs.at(-1), { link: full_path, url: `${here.services.url}/groups/${full_path}` });
});

test('the owner of the address becomes a member at once, unless it is not confirmed', async () => {
  const here = await world({});
  const url = urlOf(here, 'project');
  const [confirmed, unconfirmed, claiming] = [await here.person(), await here.person(), await here.person()];
  await here.db.updateTable('users').set({ confirmed_at: null }).where('id', '=', unconfirmed.id).execute();
  const [second, claimed] = [address(), address()];
  await here.db
    .insertInto('emails')
    .values([
      { user_id: confirmed.id, email: second, confirmed_at: sql<string>`now()` },
      { user_id: claiming.id, email: claimed },
    ])
    .execute();
  await mailOf(here.services, [tellOfAccess]);
  const emails = [second.toUpperCase(), `${unconfirmed.username}@example.com`, claimed];
  const invited = await here.as('maintainer').post(url, { email: emails, access_level: 30, expires_at: '2999-01-01' });
  assert.deepEqual(invited.body, success);
  assert.deepEqual(await list(here, url), [claimed]);
  for (const { id } of [confirmed, unconfirmed]) {
    const { body } = await here.as('owner').get(`/projects/${here.project.id}/members/${id}`);
    assert.deepEqual(
      [body.access_level, body.expires_at, body.created_by.id],
      [30, '2999-01-01', here.people.maintainer.id],
    );
  }
  assert.equal((await here.as('owner').get(`/projects/${here.project.id}/members/${claiming.id}`)).status, 404);
  const events = (await here.as('owner').get(`/projects/${here.project.id}/events`)).body;
  if (Array.isArray(events))
    assert.equal(events.filter(({ action_name }: { action_name: string }) => action_name === 'joined').length, 2);
  const [mail, ...others] = await mailOf(here.services, [tellOfAccess]);
  assert.deepEqual(others, [], 'no mail goes to an address that is not confirmed');
  assert.equal(mail!.to.address, `${confirmed.username}@example.com`);
  const { full_path } = here.project;
  assert.deepEqual(mail!.paragraphs.at(-1), { link: full_path, url: `${here.services.url}/${full_path}` });
});

test('a user who is added at once has access until the first day after the end of the invitation', async () => {
  const here = await world({});
  const [url, { id }] = [urlOf(here, 'group'), await here.person()];
  for (const [expires_at, end] of [
    ['2999-01-02T23:30:00-05:00', '2999-01-04'],
    ['2999-01-03T00:00:00Z', '2999-01-03'],
    ['2999-01-03', '2999-01-03'],
  ] as const) {
    assert.deepEqual((await here.as('owner').post(url, { user_id: id, access_level: 30, expires_at })).body, success);
    assert.equal((await here.as('owner').get(`/groups/${here.group.id}/members/${id}`)).body.expires_at, end);
  }
});

test('an existing member gets the new level, and an access request is approved', async () => {
  const here = await world({});
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  const url = urlOf(here, 'group');
  await here.as('outsider').post(`/groups/${here.group.id}/access_requests`);
  const { guest, outsider, owner } = here.people;
  const email = `${guest.username}@example.com`;
  assert.deepEqual((await here.as('owner').post(url, { email, user_id: outsider.id, access_level: 40 })).body, success);
  const levelOf = async (id: number) =>
    (await here.as('owner').get(`/groups/${here.group.id}/members/${id}`)).body.access_level;
  assert.deepEqual([await levelOf(guest.id), await levelOf(outsider.id)], [40, 40]);
  assert.deepEqual((await here.as('owner').get(`/groups/${here.group.id}/access_requests`)).body, []);

  const last = await here.as('owner').post(url, { user_id: owner.id, access_level: 40 });
  assert.deepEqual(Object.keys(last.body.message), [owner.username]);
  assert.equal(await levelOf(owner.id), 50);
});

test('invitations with unavailable levels and roles are refused', async () => {
  const here = await world({});
  const { as, group, project, people } = here;
  const url = urlOf(here, 'project');
  const email = address();
  const refused = async (input: object, text: string) => {
    const { status, body } = await as('owner').post(url, { email, ...input });
    assert.deepEqual([status, body], [201, { status: 'error', message: { [email]: text } }]);
  };
  await refused({ access_level: 0 }, 'Access level is not included in the list');
  await refused({ access_level: 5 }, 'Access level is not included in the list');
  await refused({ access_level: 30, expires_at: '2020-01-01' }, 'Expires at cannot be a date in the past');
  await refused({ access_level: 30, member_role_id: 999_999 }, 'Member role not found');
  await refused({ access_level: 30, expires_at: daysFromNow(0) }, 'Expires at must be after today');
  const past = new Date(Date.now() - 1000).toISOString();
  await refused({ access_level: 30, expires_at: past }, 'Expires at must be in the future');
  const inherited = await as('owner').post(url, { user_id: people.maintainer.id, access_level: 10 });
  assert.deepEqual(inherited.body.message, {
    [people.maintainer.username]:
      `Access level should be greater than or equal to Maintainer inherited membership from group ${group.path}`,
  });
  const tooMany = Array.from({ length: 101 }, (_, index) => `many-${index}@example.org`);
  const { status, body } = await as('owner').post(url, { email: tooMany, access_level: 30 });
  assert.equal(status, 201);
  assert.deepEqual(body.message['many-7@example.org'], 'Too many users specified (limit is 100)');
  assert.equal((await as('owner').post(urlOf(here, 'group'), { email, access_level: 5 })).body.status, 'success');

  assert.equal((await as('maintainer').post(url, { email, access_level: 50 })).status, 403);
  const owned = address();
  await as('owner').post(url, { email: owned, access_level: 50 });
  assert.equal((await as('maintainer').put(`${url}/${owned}`, { access_level: 10 })).status, 403);
  assert.equal((await as('maintainer').delete(`${url}/${owned}`)).status, 403);

  await here.db.updateTable('namespaces').set({ membership_lock: true }).where('id', '=', group.id).execute();
  await refused({ access_level: 30 }, 'Membership is locked by a group above this project');
  assert.deepEqual(await list(here, `/projects/${project.id}/invitations`), [owned]);
});

test('invalid requests are refused as a whole', async () => {
  const here = await world({});
  const url = urlOf(here, 'group');
  const email = address();
  const refused = async (method: 'post' | 'put', path: string, input: object, body: object) => {
    const answer = await here.as('owner')[method](path, { ...input });
    assert.deepEqual([answer.status, answer.body], [400, body]);
  };
  const noInvitee = { message: '400 Bad request - Must provide either email or user_id as a parameter' };
  await refused('post', url, { access_level: 30 }, noInvitee);
  await refused('post', url, { access_level: 30, email: ' , ', user_id: '' }, noInvitee);
  const texts = (text: string) => ({ message: text, error: text });
  await refused(
    'post',
    url,
    { access_level: 30, email: `${email},nonsense` },
    texts('email contains an invalid email address'),
  );
  await refused('post', url, { email }, texts('access_level is missing'));
  await refused('post', url, { email, access_level: 31 }, texts('access_level does not have a valid value'));
  await refused('post', url, { user_id: 'x', access_level: 30 }, texts('user_id is invalid'));
  assert.deepEqual(await list(here, url), []);
  await here.as('owner').post(url, { email, access_level: 30 });
  await refused('put', `${url}/${email}`, {}, { message: '400 Bad request' });
  await refused(
    'put',
    `${url}/${email}`,
    { expires_at: '2020-01-01' },
    { message: { expires_at: ['cannot be a date in the past'] } },
  );
  await refused(
    'put',
    `${url}/${email}`,
    { access_level: 0 },
    { message: { access_level: ['is not included in the list'] } },
  );
  assert.equal((await here.as('owner').get(url)).body[0].access_level, 30);
});

test('the list is paged, oldest first, and filtered by the full address', async () => {
  const here = await world({});
  const url = urlOf(here, 'group');
  const emails = [`z-${address()}`, `a-${address()}`, `m-${address()}`];
  await here.as('owner').post(url, { email: emails.join(','), access_level: 30 });
  await here.as('owner').post(urlOf(here, 'project'), { email: address(), access_level: 30 });
  assert.deepEqual(await list(here, url), emails);
  const page = await here.as('owner').get(url, { per_page: 2, page: 2 });
  assert.deepEqual([page.body.length, page.headers.get('x-total')], [1, '3']);
  assert.deepEqual(await list(here, `${url}?query=${encodeURIComponent(emails[1]!.toUpperCase())}`), [emails[1]]);
  assert.deepEqual(await list(here, `${url}?query=${emails[1]!.slice(0, 5)}`), []);
  assert.deepEqual(await list(here, `${url}?query=`), emails);
});

test('an invitation has a custom role, which keeps its level', async () => {
  const here = await world({});
  const { as, group } = here;
  const role = await as('owner').post(`/groups/${group.id}/member_roles`, {
    name: 'Helper',
    base_access_level: 10,
    admin_group_member: true,
  });
  assert.equal(role.status, 201, JSON.stringify(role.body));
  const { client: helper, id } = await here.person();
  const grant = { access_level: 10, member_role_id: role.body.id };
  const email = address();
  assert.deepEqual((await as('owner').post(urlOf(here, 'group'), { email, user_id: id, ...grant })).body, success);
  const uninvited = address();
  const wrong = await as('owner').post(urlOf(here, 'group'), { email: uninvited, ...grant, access_level: 20 });
  const keepsLevel = 'cannot be changed since member is associated with a custom role';
  assert.deepEqual(wrong.body.message, { [uninvited]: `Access level ${keepsLevel}` });
  const roleOf = async () =>
    await here.db
      .selectFrom('invitations')
      .select(['access_level', 'member_role_id'])
      .where('invite_email', '=', email)
      .executeTakeFirstOrThrow();
  const put = (change: object) => as('owner').put(`${urlOf(here, 'group')}/${email}`, { ...change });
  const developer = await addRole(here, ['remove_project'], { base_access_level: 30 });
  for (const [change, refusal] of [
    [{ access_level: 20, member_role_id: role.body.id }, { access_level: [keepsLevel] }],
    [{ member_role_id: developer }, { access_level: [keepsLevel] }],
    [{ member_role_id: 999_999 }, { member_role: ['not found'] }],
    [{ member_role_id: '9223372036854775808' }, { member_role: ['not found'] }],
  ] as const) {
    const refused = await put(change);
    assert.deepEqual([refused.status, refused.body.message], [400, refusal]);
  }
  assert.deepEqual(await roleOf(), grant);
  assert.equal((await put({ expires_at: '2999-01-01' })).status, 200);
  assert.deepEqual(await roleOf(), grant, 'left out, it stays while the level stays');
  for (const [change, access_level, member_role_id] of [
    [{ access_level: 30, member_role_id: developer }, 30, developer],
    [{ access_level: 20 }, 20, null],
    [grant, 10, role.body.id],
    [{ member_role_id: '' }, 10, null],
    [{ member_role_id: role.body.id }, 10, role.body.id],
  ] as const) {
    const changed = await put(change);
    assert.deepEqual([changed.status, changed.body.access_level], [200, access_level]);
    assert.deepEqual(await roleOf(), { access_level, member_role_id });
  }

  // Their role lets them invite, but not above their own level.
  const [low, high] = [address(), address()];
  assert.deepEqual((await helper.post(urlOf(here, 'group'), { email: low, access_level: 10 })).body, success);
  assert.deepEqual((await helper.post(urlOf(here, 'group'), { email: high, access_level: 30 })).body.message, {
    [high]: "the member access level can't be higher than the current user's one",
  });
  assert.deepEqual(await list(here, urlOf(here, 'group')), [email, low]);
});

test('revoking an invitation that is answered at the same time is a conflict', async () => {
  const here = await world({});
  const [url, email] = [urlOf(here, 'group'), address()];
  await here.as('owner').post(url, { email, access_level: 30 });
  let removed!: Promise<{ status: number; body: object }>;
  await here.db.transaction().execute(async (tx) => {
    await tx.deleteFrom('invitations').where('invite_email', '=', email).execute();
    removed = here.as('owner').delete(`${url}/${email}`);
    await untilLockWaits(here.db);
  });
  const { status, body } = await removed;
  assert.deepEqual([status, body], [409, { message: '409 Conflict' }]);
});

test('a caller cannot update or revoke an invitation with more access than their own', async () => {
  const here = await world({});
  const url = urlOf(here, 'group');
  const { client: helper } = await personWith(here, `/groups/${here.group.id}`, ['admin_group_member']);
  const email = address();
  const strong = { access_level: 10, member_role_id: await addRole(here, ['admin_group_member', 'remove_group']) };
  await here.as('owner').post(url, { email, ...strong });
  assert.equal((await helper.put(`${url}/${email}`, { expires_at: '2999-01-01' })).status, 403);
  assert.equal((await helper.delete(`${url}/${email}`)).status, 403);
  const [{ expires_at }] = (await here.as('owner').get(url)).body;
  assert.equal(expires_at, null);

  const own = address();
  await helper.post(url, { email: own, access_level: 10 });
  assert.equal((await helper.put(`${url}/${own}`, { expires_at: '2999-01-01' })).status, 200);
  assert.equal((await helper.delete(`${url}/${own}`)).status, 204);
});

test('a role that an owner adds to an invitation is theirs to answer for', async () => {
  const here = await world({});
  const url = urlOf(here, 'group');
  const { client: helper } = await personWith(here, `/groups/${here.group.id}`, ['admin_group_member']);
  const strong = await addRole(here, ['remove_group']);
  const email = address();
  await helper.post(url, { email, access_level: 10 });
  assert.equal((await helper.put(`${url}/${email}`, { member_role_id: strong })).status, 403);
  assert.equal((await here.as('owner').put(`${url}/${email}`, { member_role_id: strong })).status, 200);
  assert.equal(
    (await here.as('owner').get(url)).body[0].created_by_name,
    here.people.owner.username.replaceAll('-', ' '),
  );
});

test('below Ultimate another level removes the role of an invitation', async (t) => {
  const here = await world({});
  const [url, email] = [urlOf(here, 'group'), address()];
  await here.as('owner').post(url, { email, access_level: 10, member_role_id: await addRole(here, ['read_code']) });
  t.after(() => changePlan(here, 'ultimate'));
  await changePlan(here, 'premium');
  const changed = await here.as('owner').put(`${url}/${email}`, { access_level: 20 });
  assert.deepEqual([changed.status, changed.body.access_level], [200, 20]);
  const { member_role_id } = await here.db
    .selectFrom('invitations')
    .select('member_role_id')
    .where('invite_email', '=', email)
    .executeTakeFirstOrThrow();
  assert.equal(member_role_id, null);
});

test('deleting a member revokes their invitations there, and inside unless subresources are skipped', async () => {
  const here = await world({});
  const { as, group, project } = here;
  const [inGroup, inProject, others] = [urlOf(here, 'group'), urlOf(here, 'project'), address()];
  const second = await here.person();
  const members = `/groups/${group.id}/members`;
  for (const skip_subresources of [true, false]) {
    await as('owner').post(members, { user_id: second.id, access_level: 50 });
    for (const url of [inGroup, inProject]) await second.client.post(url, { email: address(), access_level: 50 });
    await as('owner').post(inGroup, { email: others, access_level: 30 });
    assert.equal(
      (await as('owner').delete(`${members}/${second.id}?skip_subresources=${skip_subresources}`)).status,
      204,
    );
    assert.deepEqual(await list(here, inGroup), [others]);
    assert.equal((await list(here, inProject)).length, skip_subresources ? 1 : 0);
  }
  // By leaving, and from one project only.
  await as('owner').post(`/projects/${project.id}/members`, { user_id: second.id, access_level: 40 });
  await second.client.post(inProject, { email: address(), access_level: 40 });
  await as('maintainer').post(inProject, { email: others, access_level: 30 });
  assert.equal((await second.client.delete(`/projects/${project.id}/members/${second.id}`)).status, 204);
  assert.deepEqual(await list(here, inProject), [others]);
});
