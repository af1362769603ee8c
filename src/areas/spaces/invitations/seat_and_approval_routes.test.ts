import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { performQueued } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { seats } from '../../instance/licenses/index.ts';
import { acceptInvitations, writeInvitation } from './index.ts';

let count = 0;
const address = () => `seated-${process.pid}-${++count}@example.org`;
const queued = 'Request queued for administrator approval.';
const noSeats = 'There are not enough available seats to invite this many users.';

/** A world with settings of its own and a license for so many users, until the test ends. */
async function licensed(t: TestContext, settings: object, free?: number): Promise<World> {
  const here = await world({});
  t.after(async () => {
    await here.db.deleteFrom('application_settings').execute();
    await here.db.insertInto('application_settings').defaultValues().execute();
    await here.db.updateTable('licenses').set({ user_limit: 0 }).execute();
  });
  const { status, body } = await here.as('admin').put('/application/settings', { ...settings });
  assert.equal(status, 200, JSON.stringify(body));
  if (free !== undefined) {
    const { used } = await seats(here.db);
    await here.db
      .updateTable('licenses')
      .set({ user_limit: used + free })
      .execute();
  }
  return here;
}

const membersUrl = ({ group }: World) => `/groups/${group.id}/members`;
const invitationsUrl = ({ group }: World) => `/groups/${group.id}/invitations`;
const levelOf = async (here: World, id: number) =>
  (await here.as('owner').get(`${membersUrl(here)}/${id}`)).body.access_level;

async function linkTo(here: World, email: string): Promise<string> {
  const mails = await mailOf(here.services, [writeInvitation]);
  const { paragraphs } = mails.find(({ to }) => to.address === email)!;
  const [link] = paragraphs.flatMap((paragraph) =>
    typeof paragraph === 'object' && 'url' in paragraph ? [paragraph.url] : [],
  );
  return `${here.url}${new URL(link!).pathname}`;
}

test('promotions that take a seat wait for an administrator, who approves or denies them', async (t) => {
  const here = await licensed(t, { enable_member_promotion_management: true });
  const { as } = here;
  const [one, two, three] = [await here.person(), await here.person(), await here.person()];

  const invited = await as('owner').post(invitationsUrl(here), {
    email: `${one.username}@example.com`,
    access_level: 30,
  });
  assert.deepEqual(
    [invited.status, invited.body],
    [201, { status: 'success', queued_users: { [one.username]: queued } }],
  );
  const added = await as('owner').post(membersUrl(here), {
    user_id: two.id,
    access_level: 20,
    expires_at: '2999-01-01',
  });
  assert.deepEqual([added.status, added.body], [201, { message: { [two.username]: queued } }]);
  assert.equal(
    (await as('owner').post(membersUrl(here), { user_id: three.id, access_level: 10 })).body.access_level,
    10,
  );
  const promoted = await as('owner').put(`${membersUrl(here)}/${three.id}`, { access_level: 40 });
  assert.deepEqual([promoted.status, promoted.body], [200, { message: { [three.username]: queued } }]);
  const several = await as('owner').post(membersUrl(here), {
    user_id: [one.id, here.people.guest.id],
    access_level: 10,
  });
  assert.deepEqual(several.body, { status: 'success' });
  const both = await as('owner').post(membersUrl(here), {
    user_id: [one.id, here.people.reporter.id],
    access_level: 30,
  });
  assert.deepEqual(both.body, { status: 'success', queued_users: { [one.username]: queued } });
  assert.deepEqual(await Promise.all([one, two, three].map(({ id }) => levelOf(here, id))), [10, undefined, 10]);

  for (const [persona, status] of [
    ['owner', 403],
    ['anonymous', 401],
  ] as const) {
    assert.equal((await as(persona).get('/member_approvals')).status, status);
    assert.equal((await as(persona).put('/member_approvals/1/approve')).status, status);
    assert.equal((await as(persona).put('/member_approvals/1/deny')).status, status);
  }
  const waiting = (await as('admin').get('/member_approvals', { status: 'pending' })).body;
  assert.deepEqual(
    waiting.map(
      ({
        user,
        access_level,
        expires_at,
      }: {
        user: { id: number };
        access_level: number;
        expires_at: string | null;
      }) => [user.id, access_level, expires_at],
    ),
    [
      [two.id, 20, '2999-01-01'],
      [three.id, 40, null],
      [one.id, 30, null],
    ],
  );
  assert.deepEqual([waiting[0].group_id, waiting[0].requested_by.id], [here.group.id, here.people.owner.id]);

  const approved = await as('admin').put(`/member_approvals/${waiting[0].id}/approve`);
  assert.deepEqual(
    [approved.status, approved.body.status, approved.body.reviewed_by.id],
    [200, 'approved', here.people.admin.id],
  );
  const denied = await as('admin').put(`/member_approvals/${waiting[1].id}/deny`);
  assert.deepEqual([denied.status, denied.body.status], [200, 'denied']);
  assert.deepEqual(await Promise.all([one, two, three].map(({ id }) => levelOf(here, id))), [10, 20, 10]);
  assert.equal((await as('owner').get(`${membersUrl(here)}/${two.id}`)).body.expires_at, '2999-01-01');
  for (const again of ['approve', 'deny'])
    assert.equal((await as('admin').put(`/member_approvals/${waiting[0].id}/${again}`)).status, 409);
  assert.equal((await as('admin').put('/member_approvals/99999999/approve')).status, 404);

  // Administrators need no approval, and their change settles the pending one.
  assert.equal((await as('admin').put(`${membersUrl(here)}/${one.id}`, { access_level: 40 })).body.access_level, 40);
  assert.deepEqual((await as('admin').get('/member_approvals', { status: 'pending' })).body, []);
  assert.equal((await as('admin').get('/member_approvals')).body.length, 2);
});

test('access requests and accepted invitations wait for an approval as well', async (t) => {
  const here = await licensed(t, { enable_member_promotion_management: true });
  const { as, db } = here;
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  const [asking, invited] = [await here.person(), await here.person()];
  const requests = `/groups/${here.group.id}/access_requests`;
  await asking.client.post(requests);
  const let_in = await as('owner').put(`${requests}/${asking.id}/approve`, { access_level: 30 });
  assert.deepEqual([let_in.status, let_in.body], [201, { message: { [asking.username]: queued } }]);
  assert.deepEqual((await as('owner').get(requests)).body, []);

  const email = address();
  await as('owner').post(invitationsUrl(here), { email, access_level: 30 });
  await as('admin').post(`/users/${invited.id}/emails`, { email, skip_confirmation: true });
  await performQueued(here.services, [acceptInvitations]);
  assert.equal(await levelOf(here, invited.id), undefined);
  assert.deepEqual((await as('owner').get(invitationsUrl(here))).body, []);
  const waiting = (await as('admin').get('/member_approvals', { status: 'pending' })).body;
  for (const { id } of waiting) assert.equal((await as('admin').put(`/member_approvals/${id}/approve`)).status, 200);
  assert.deepEqual([await levelOf(here, asking.id), await levelOf(here, invited.id)], [30, 30]);
});

test("raising the level of an administrator's invitation requires an approval", async (t) => {
  const here = await licensed(t, { enable_member_promotion_management: true });
  const { as } = here;
  const [email, invited] = [address(), await here.person()];
  await as('admin').post(invitationsUrl(here), { email, access_level: 10 });
  const raised = await as('owner').put(`${invitationsUrl(here)}/${email}`, { access_level: 30 });
  assert.equal(raised.body.created_by_name, here.people.owner.username.replaceAll('-', ' '));
  await as('admin').post(`/users/${invited.id}/emails`, { email, skip_confirmation: true });
  await performQueued(here.services, [acceptInvitations]);
  assert.equal(await levelOf(here, invited.id), undefined);
  const [waiting] = (await as('admin').get('/member_approvals', { status: 'pending' })).body;
  assert.deepEqual(
    [waiting.user.id, waiting.access_level, waiting.requested_by.id],
    [invited.id, 30, here.people.owner.id],
  );
  assert.equal((await as('admin').put(`/member_approvals/${waiting.id}/deny`)).status, 200);
});

test('a pending promotion is deleted with its membership, and is not approved after its expiry', async (t) => {
  const here = await licensed(t, { enable_member_promotion_management: true });
  const { as, db } = here;
  const [removed, late] = [await here.person(), await here.person()];
  for (const { id } of [removed, late]) {
    await as('owner').post(membersUrl(here), { user_id: id, access_level: 10 });
    await as('owner').put(`${membersUrl(here)}/${id}`, { access_level: 30, expires_at: '2999-01-01' });
  }
  assert.equal((await as('owner').delete(`${membersUrl(here)}/${removed.id}`)).status, 204);
  await db
    .updateTable('member_approvals')
    .set({ expires_at: sql<string>`current_date` })
    .where('user_id', '=', late.id)
    .execute();
  const waiting = (await as('admin').get('/member_approvals', { status: 'pending' })).body;
  assert.deepEqual(
    waiting.map(({ user }: { user: { id: number } }) => user.id),
    [late.id],
  );
  const approved = await as('admin').put(`/member_approvals/${waiting[0].id}/approve`);
  assert.deepEqual([approved.status, approved.body], [422, { message: 'Expires at must be after today' }]);
  assert.deepEqual([await levelOf(here, removed.id), await levelOf(here, late.id)], [undefined, 10]);
});

test('a promotion that has fallen below an inherited role is not approved and stays pending', async (t) => {
  const here = await licensed(t, { enable_member_promotion_management: true });
  const { as } = here;
  const { id, username } = await here.person();
  const wish = { user_id: id, access_level: 30 };
  const asked = await as('owner').post(`/projects/${here.project.id}/members`, wish);
  assert.deepEqual(asked.body, { message: { [username]: queued } });
  assert.equal((await as('admin').post(membersUrl(here), { ...wish, access_level: 40 })).status, 201);
  const pending = async () =>
    (await as('admin').get('/member_approvals', { status: 'pending' })).body.filter(
      ({ user }: { user: { id: number } }) => user.id === id,
    );
  const [waiting] = await pending();
  const refused = await as('admin').put(`/member_approvals/${waiting.id}/approve`);
  assert.equal(refused.status, 422);
  assert.match(
    refused.body.message,
    /^Access level should be greater than or equal to Maintainer inherited membership from group /,
  );
  assert.deepEqual(await pending(), [waiting]);
});

test('becoming a member requires a seat of the license', async (t) => {
  const here = await licensed(t, { seat_control: 'block_overages' }, 1);
  const { as } = here;
  const [one, two] = [await here.person(), await here.person()];
  const emails = [`${one.username}@example.com`, address()];
  const tooMany = await as('owner').post(invitationsUrl(here), { email: emails, access_level: 30 });
  assert.deepEqual(
    [tooMany.status, tooMany.body],
    [201, { status: 'error', message: Object.fromEntries(emails.map((email) => [email, noSeats])) }],
  );
  assert.deepEqual((await as('owner').get(invitationsUrl(here))).body, []);
  const asMaintainer = await as('maintainer').post(`/projects/${here.project.id}/invitations`, {
    email: emails,
    access_level: 30,
  });
  assert.equal(
    asMaintainer.body.message[emails[0]!],
    `${noSeats} Ask a user with the Owner role to purchase more seats.`,
  );
  // Guests need no seat with Ultimate.
  assert.equal(
    (await as('owner').post(membersUrl(here), { user_id: [one.id, two.id], access_level: 10 })).body.status,
    'success',
  );

  assert.equal((await as('owner').put(`${membersUrl(here)}/${one.id}`, { access_level: 30 })).body.access_level, 30);
  const refused = await as('owner').put(`${membersUrl(here)}/${two.id}`, { access_level: 30 });
  assert.deepEqual([refused.status, refused.body], [400, { message: noSeats }]);
  const other = await here.person();
  const single = await as('owner').post(membersUrl(here), { user_id: other.id, access_level: 30 });
  assert.deepEqual([single.status, single.body], [400, { message: noSeats }]);
  assert.deepEqual([await levelOf(here, two.id), await levelOf(here, other.id)], [10, undefined]);
  // Users with a seat can have any role.
  assert.equal((await as('owner').put(`${membersUrl(here)}/${one.id}`, { access_level: 40 })).body.access_level, 40);
});

test('an invitation stays pending while no seat is left, also for sign-up', async (t) => {
  const here = await licensed(t, { seat_control: 'block_overages' }, 1);
  const { as, db } = here;
  const [invited, other, email] = [await here.person(), await here.person(), address()];
  assert.equal((await as('owner').post(invitationsUrl(here), { email, access_level: 30 })).body.status, 'success');
  const page = await linkTo(here, email);
  assert.equal((await as('owner').post(membersUrl(here), { user_id: other.id, access_level: 30 })).status, 201);

  const account = { username: `seatless-${process.pid}`, name: 'Seatless', password: 'correct horse battery' };
  const signUp = await fetch(`${page}/sign_up`, { method: 'POST', body: new URLSearchParams(account) });
  assert.deepEqual([signUp.status, (await signUp.text()).includes(noSeats)], [403, true]);
  assert.deepEqual((await as('admin').get('/users', { username: account.username })).body, []);

  await as('admin').post(`/users/${invited.id}/emails`, { email, skip_confirmation: true });
  await performQueued(here.services, [acceptInvitations]);
  const accept = () => fetch(`${page}/accept`, { method: 'POST', headers: { 'private-token': invited.token } });
  assert.equal((await accept()).status, 409);
  assert.equal((await as('owner').get(invitationsUrl(here))).body.length, 1);
  assert.equal(await levelOf(here, invited.id), undefined);
  await db.updateTable('licenses').set({ user_limit: 0 }).execute();
  assert.equal((await accept()).status, 200);
  assert.equal(await levelOf(here, invited.id), 30);
});

test('two concurrent requests do not both get the last seat', async (t) => {
  const here = await licensed(t, { seat_control: 'block_overages' });
  const people = await Promise.all(Array.from({ length: 6 }, () => here.person()));
  // In separate trees, so that they do not wait for each other anyway.
  const groups = await Promise.all(
    people.map(({ username }) => here.as('admin').post('/groups', { name: username, path: `group-of-${username}` })),
  );
  await here.db
    .updateTable('licenses')
    .set({ user_limit: (await seats(here.db)).used + 1 })
    .execute();
  const answers = await Promise.all(
    people.map(({ id }, index) =>
      here.as('admin').post(`/groups/${groups[index]!.body.id}/members`, { user_id: id, access_level: 30 }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 400, 400, 400, 400, 400]);
});

test('addresses excluded by the sign-up restrictions are not invited', async (t) => {
  const here = await licensed(t, { domain_denylist_enabled: true, domain_denylist: ['*.evil.test'] });
  const { as } = here;
  const [good, bad] = [address(), 'a@mail.evil.test'];
  const text = (kind: string, rule: string) =>
    `The member's email address is not allowed for this ${kind}. Go to the &#39;Admin area &gt; Sign-up restrictions&#39;, and ${rule}.`;
  const invite = async (kind: 'group' | 'project') =>
    (await as('owner').post(`/${kind}s/${here[kind].id}/invitations`, { email: [bad, good], access_level: 30 })).body
      .message;
  assert.deepEqual(await invite('group'), { [bad]: text('group', 'check the &#39;Domain denylist&#39;') });
  assert.equal((await as('owner').get(invitationsUrl(here))).body.length, 1);
  await as('admin').put('/application/settings', { domain_allowlist: ['allowed.test'] });
  const allowed = text('project', 'check &#39;Allowed domains for sign-ups&#39;');
  assert.deepEqual(await invite('project'), { [bad]: allowed, [good]: allowed });
  await as('admin').put('/application/settings', {
    domain_allowlist: [],
    email_restrictions_enabled: true,
    email_restrictions: '^seated-',
  });
  const restricted = text('project', 'check &#39;Email restrictions for sign-ups&#39;');
  assert.equal((await invite('project'))[good], restricted);
  for (const [given, message] of [
    [{ email_restrictions: '(' }, { email_restrictions: ['is not a valid regular expression'] }],
    [{ domain_denylist: ['a b'] }, { domain_denylist: ["can't include: a b"] }],
  ]) {
    const wrong = await as('admin').put('/application/settings', given);
    assert.deepEqual([wrong.status, wrong.body.message], [400, message]);
  }
  assert.equal((await as('admin').get('/application/settings')).body.email_restrictions, '^seated-');
});
