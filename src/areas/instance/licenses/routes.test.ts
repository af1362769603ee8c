import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { changePlan, dayFromNow, licenseText } from '../../../../test/support/licenses.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { secretsFrom } from '../../../secrets/index.ts';
import {
  billableCount,
  issueLicense,
  recordBillableUsers,
  seats,
  tellOfLicenseEnd,
  warnOfLicenseEnd,
} from './index.ts';

let here: World;

/** Every test starts without a license and without counts: all worlds of a file share one server. */
beforeEach(async () => {
  here = await world({});
  await here.db.deleteFrom('licenses').execute();
  await here.db.deleteFrom('billable_counts').execute();
});

const add = (text: string) => here.as('admin').post('/license', { license: text });

async function install(...args: Parameters<typeof licenseText> extends [unknown, ...infer Rest] ? Rest : never) {
  const answer = await add(await licenseText(here, ...args));
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

const counted = (day: string, count: number) =>
  here.db.insertInto('billable_counts').values({ day, count, highest: count }).execute();

/** Whether requests see Premium, which iterations need. */
const seesPremium = async () => (await here.as('owner').get(`/groups/${here.group.id}/iterations`)).status === 200;

test('only administrators can install, show, list and delete a license', async () => {
  const admin = here.as('admin');
  assert.deepEqual([(await admin.get('/license')).status, (await admin.get('/license')).body], [200, null]);
  assert.deepEqual((await admin.get('/licenses')).body, []);
  const text = await licenseText(here, { plan: 'premium', active_user_count: 500, add_ons: { GitLab_Geo: 1 } });
  const added = await admin.post(`/license?license=${text}`);
  assert.equal(added.status, 201);
  const { id, created_at, active_users, ...rest } = added.body;
  assert.equal(active_users, await billableCount(here.db));
  assert.deepEqual(rest, {
    plan: 'premium',
    starts_at: dayFromNow(-30),
    expires_at: dayFromNow(300),
    historical_max: active_users,
    maximum_user_count: active_users,
    licensee: { Name: 'Ada', Email: 'ada@example.com', Company: 'Orchard' },
    add_ons: { GitLab_Geo: 1 },
    expired: false,
    overage: 0,
    user_limit: 500,
  });
  assert.deepEqual((await admin.get('/license')).body, added.body);
  assert.deepEqual((await admin.get(`/license/${id}`)).body, added.body);
  const newer = await install();
  const list = (await admin.get('/licenses')).body;
  assert.deepEqual(
    list.map((each: { id: number }) => each.id),
    [newer.id, id],
  );
  assert.deepEqual(list[1], { id, created_at, ...rest });

  for (const [persona, status] of [
    ['owner', 403],
    ['anonymous', 401],
  ] as const) {
    const one = here.as(persona);
    for (const path of [
      '/license',
      '/licenses',
      `/license/${id}`,
      '/license/usage_export',
      '/license/usage_export.csv',
    ])
      assert.equal((await one.get(path)).status, status, path);
    assert.equal((await one.post('/license', { license: text })).status, status);
    assert.equal((await one.put(`/license/${id}/refresh_billable_users`)).status, status);
    assert.equal((await one.delete(`/license/${id}`)).status, status);
  }
  assert.equal((await admin.get('/licenses')).body.length, 2);

  assert.equal((await admin.delete(`/license/${id}`)).status, 204);
  for (const answer of [await admin.get(`/license/${id}`), await admin.delete(`/license/${id}`)])
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Not Found' }]);
});

test('a license by an untrusted issuer, a modified one and an expired one are refused, and nothing changes', async () => {
  const text = await licenseText(here);
  const [head, , signature] = text.split('.') as [string, string, string];
  const invalid = 'The license key is invalid. Make sure it is exactly as you received it.';
  const licensed = { v: 1, licensee: { Name: 'Ada' }, starts_at: '2020-01-01', restrictions: { plan: 'ultimate' } };
  const content = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${content(licensed)}.`;
  const foreign = await issueLicense(secretsFrom('another secret key of 32 characters'), {
    licensee: { Name: 'Ada' },
    starts_at: '2020-01-01',
    restrictions: { plan: 'ultimate' },
  });
  const refusals: [string, string][] = [
    ['nonsense', invalid],
    ['', invalid],
    [`${head}.${content(licensed)}.${signature}`, invalid],
    [`${text.slice(0, -4)}AAAA`, invalid],
    [unsigned, invalid],
    [foreign, invalid],
    [await licenseText(here, {}, { expires_at: dayFromNow(0) }), 'This license has already expired.'],
  ];
  for (const [license, message] of refusals) {
    const answer = await add(license);
    assert.deepEqual([answer.status, answer.body], [400, { message }], license);
  }
  const missing = await here.as('admin').post('/license', {});
  assert.deepEqual([missing.status, missing.body.message], [400, 'license is missing']);
  assert.deepEqual((await here.as('admin').get('/licenses')).body, []);
  await assert.rejects(licenseText(here, {}, { licensee: { Name: ' ' } }), /needs a licensee/);
  await assert.rejects(
    licenseText(here, {}, { starts_at: '2026-01-01', expires_at: '2026-01-01' }),
    /start before it ends/,
  );
});

test('a license can be added only once, and again after it was deleted', async () => {
  const text = await licenseText(here);
  const added = await Promise.all([add(text), add(` ${text}\r\n`)]);
  assert.deepEqual(added.map(({ status }) => status).sort(), [201, 400]);
  const again = await add(text);
  assert.deepEqual([again.status, again.body], [400, { message: 'This license has already been added.' }]);
  const [only, ...others] = (await here.as('admin').get('/licenses')).body;
  assert.deepEqual(others, []);
  assert.equal((await here.as('admin').delete(`/license/${only.id}`)).status, 204);
  assert.equal((await add(text)).status, 201);
});

test('a license takes effect with the next request; after its end a paid plan stays and a trial does not', async () => {
  assert.equal(await seesPremium(), false);
  const waiting = await install({ plan: 'ultimate' }, { starts_at: dayFromNow(5) });
  assert.equal(await seesPremium(), false, 'it has not started');
  assert.equal((await here.as('admin').get('/license')).body, null);
  const old = await install({ plan: 'starter' });
  assert.equal(await seesPremium(), true, 'starter is the old name of premium');
  const newer = await install({ plan: 'ultimate' });
  assert.equal((await here.as('admin').get('/license')).body.id, newer.id);
  const end = (id: number) =>
    here.db
      .updateTable('licenses')
      .set({ expires_at: dayFromNow(0) })
      .where('id', '=', id)
      .execute();
  await end(newer.id);
  assert.equal(
    (await here.as('admin').get('/license')).body.id,
    old.id,
    'a valid license wins over a newer expired one',
  );
  await end(old.id);
  const ended = (await here.as('admin').get('/license')).body;
  assert.deepEqual([ended.id, ended.expired], [newer.id, true]);
  assert.equal(await seesPremium(), true);
  await here.db.updateTable('licenses').set({ trial: true }).where('id', '=', newer.id).execute();
  assert.equal(await seesPremium(), false);
  for (const { id } of [waiting, old, newer]) await here.as('admin').delete(`/license/${id}`);
  assert.equal(await seesPremium(), false);
});

test('a license can block changes two weeks after its end, until another one is installed', async () => {
  const { id } = await install({ plan: 'premium' }, { block_changes_at: dayFromNow(-20) });
  const end = (days: number, trial = false) =>
    here.db
      .updateTable('licenses')
      .set({ expires_at: dayFromNow(days), trial })
      .where('id', '=', id)
      .execute();
  const owner = here.as('owner');
  const issues = `/projects/${here.project.id}/issues`;
  const change = async () => (await owner.post(issues, { title: 'An issue' })).status;
  await end(-13);
  assert.equal(await change(), 201);
  await end(-14);
  assert.equal(await change(), 403);
  const push = await owner.post(`/projects/${here.project.id}/repository/files/a`, {
    branch: 'main',
    content: 'a',
    commit_message: 'Add a',
  });
  assert.deepEqual(
    [push.status, push.body.message],
    [403, '403 Forbidden - The license has expired, so projects cannot be changed.'],
  );
  assert.equal((await owner.get(issues)).status, 200);
  await end(-14, true);
  assert.equal(await change(), 201, 'after a trial the server continues with the free plan');
  await end(-14);
  await install({ plan: 'premium' });
  assert.equal(await change(), 201);
});

test('active users take a seat, with Ultimate only those who are more than a guest anywhere', async () => {
  const { db, people } = here;
  await install({ plan: 'premium' });
  const seat = async (id: number): Promise<boolean> =>
    (await here.as('admin').get(`/users/${id}`)).body.using_license_seat;
  for (const persona of ['guest', 'outsider', 'planner', 'owner'] as const)
    assert.equal(await seat(people[persona].id), true, persona);
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', people.planner.id).execute();
  assert.equal(await seat(people.planner.id), false);
  await db.updateTable('users').set({ state: 'active' }).where('id', '=', people.planner.id).execute();
  const bot = await here.as('owner').post(`/projects/${here.project.id}/access_tokens`, {
    name: 'bot',
    scopes: ['api'],
    access_level: 40,
    expires_at: dayFromNow(30),
  });
  assert.equal(await seat(bot.body.user_id), false);
  const before = await billableCount(db);
  await changePlan(here, 'ultimate');
  assert.ok((await billableCount(db)) < before);
  for (const [persona, takes] of [
    ['guest', false],
    ['outsider', false],
    ['planner', true],
    ['owner', true],
  ] as const)
    assert.equal(await seat(people[persona].id), takes, persona);
  const outsider = here.as('outsider');
  assert.equal((await outsider.post('/projects', { name: 'own' })).status, 201);
  assert.equal(await seat(people.outsider.id), true, 'the owner of a personal project is more than a guest');

  const role = (permission: 'read_code' | 'admin_group_member') =>
    db
      .insertInto('member_roles')
      .values({ name: permission, base_access_level: 10, [permission]: true })
      .returning('id')
      .executeTakeFirstOrThrow();
  for (const [permission, takes] of [
    ['read_code', false],
    ['admin_group_member', true],
  ] as const) {
    const { id } = await role(permission);
    await db.updateTable('members').set({ member_role_id: id }).where('user_id', '=', people.guest.id).execute();
    assert.equal(await seat(people.guest.id), takes, permission);
  }
  await db.updateTable('members').set({ expires_at: '2020-01-01' }).where('user_id', '=', people.guest.id).execute();
  assert.equal(await seat(people.guest.id), false);
  await db
    .updateTable('members')
    .set({ member_role_id: null, expires_at: null })
    .where('user_id', '=', people.guest.id)
    .execute();
});

test('the maximum and the overage are computed from daily counts', async () => {
  const license = await install(
    { plan: 'premium', active_user_count: 3 },
    { starts_at: dayFromNow(-10), expires_at: dayFromNow(10) },
  );
  const { active_users } = license;
  assert.equal(license.overage, active_users - 3);
  assert.deepEqual(await seats(here.db), { limit: 3, used: active_users });
  await counted(dayFromNow(-11), 9999);
  await counted(dayFromNow(-5), 500);
  const show = async () => (await here.as('admin').get(`/license/${license.id}`)).body;
  let shown = await show();
  assert.deepEqual([shown.historical_max, shown.maximum_user_count, shown.active_users], [500, 500, active_users]);
  assert.equal(shown.overage, active_users - 3, 'while it holds, the current number counts');

  await here.db
    .updateTable('licenses')
    .set({ expires_at: dayFromNow(-4) })
    .execute();
  await counted(dayFromNow(-2), 700);
  shown = await show();
  assert.deepEqual(
    [shown.expired, shown.historical_max, shown.maximum_user_count, shown.overage],
    [true, 500, 700, 497],
  );

  await here.person();
  assert.equal((await show()).active_users, active_users + 1, 'current, whatever was counted last');
  const asked = await here.as('admin').put(`/license/${license.id}/refresh_billable_users`);
  assert.deepEqual([asked.status, asked.body], [202, { success: true }]);
  assert.deepEqual(await performQueued(here.services, [recordBillableUsers]), ['record_billable_users']);
  assert.equal((await show()).active_users, active_users + 1);
  const other = await here.as('admin').put('/license/99999999/refresh_billable_users');
  assert.deepEqual([other.status, other.body], [404, { message: '404 Not Found' }]);

  await here.db.updateTable('users').set({ state: 'blocked' }).where('id', '=', here.people.guest.id).execute();
  await performJob(here.services, recordBillableUsers);
  const today = await here.db
    .selectFrom('billable_counts')
    .selectAll()
    .where('day', '=', dayFromNow(0))
    .executeTakeFirstOrThrow();
  assert.deepEqual([today.count, today.highest], [active_users, active_users + 1], 'the highest of a day stays');
});

test('the counts of a license change at once when a user is added, becomes a member, and is blocked', async () => {
  const counts = async (id: number) => {
    const { active_users, overage, maximum_user_count, historical_max } = (await here.as('admin').get(`/license/${id}`))
      .body;
    return [active_users, overage, maximum_user_count, historical_max];
  };
  const added = async (name: string) => {
    const user = {
      username: name,
      name,
      email: `${name}@example.com`,
      password: 'correct horse battery',
      skip_confirmation: true,
    };
    const { status, body } = await here.as('admin').post('/users', user);
    assert.equal(status, 201);
    return body.id as number;
  };
  const term = { starts_at: dayFromNow(0), expires_at: dayFromNow(10) };
  const { id: premium } = await install({ plan: 'premium' }, term);
  await here.db.deleteFrom('billable_counts').execute();
  const [before] = await counts(premium);
  const user = await added('counted-by-premium');
  assert.deepEqual(await counts(premium), [before + 1, 0, before + 1, before + 1]);
  assert.equal((await here.as('admin').post(`/users/${user}/block`)).status, 201);
  assert.deepEqual(await counts(premium), [before, 0, before, before]);

  const { id: ultimate } = await install({ plan: 'ultimate', active_user_count: 1000 }, term);
  await here.db.deleteFrom('billable_counts').execute();
  await here.db.updateTable('licenses').set({ user_limit: 1 }).where('id', '=', ultimate).execute();
  const [atFirst] = await counts(ultimate);
  const member = await added('counted-by-ultimate');
  assert.deepEqual(await counts(ultimate), [atFirst, atFirst - 1, atFirst, atFirst], 'no seat without a role');
  await here.db.updateTable('licenses').set({ user_limit: 1000 }).where('id', '=', ultimate).execute();
  const role = { user_id: member, access_level: 30 };
  assert.equal((await here.as('owner').post(`/projects/${here.project.id}/members`, role)).status, 201);
  await here.db.updateTable('licenses').set({ user_limit: 1 }).where('id', '=', ultimate).execute();
  assert.deepEqual(await counts(ultimate), [atFirst + 1, atFirst, atFirst + 1, atFirst + 1]);
  assert.equal((await here.as('admin').post(`/users/${member}/block`)).status, 201);
  assert.deepEqual(await counts(ultimate), [atFirst, atFirst - 1, atFirst, atFirst]);
});

test('administrators get one mail before a license ends, later for a trial', async () => {
  const jobs = [tellOfLicenseEnd];
  const news = async () => {
    await performJob(here.services, warnOfLicenseEnd);
    return (await mailOf(here.services, jobs)).filter(
      ({ to }) => to.address === `${here.people.admin.username}@example.com`,
    );
  };
  await install({ plan: 'ultimate', trial: true }, { expires_at: dayFromNow(8) });
  assert.equal((await news()).length, 0);
  const { id } = await install({ plan: 'premium' }, { expires_at: dayFromNow(15) });
  const [mail, ...more] = await news();
  assert.equal(more.length, 0);
  assert.ok(mail);
  assert.ok(JSON.stringify(mail.paragraphs).includes(dayFromNow(15)));
  assert.equal((await news()).length, 0, 'once');
  await here.db.updateTable('licenses').set({ notified_at: null }).where('id', '=', id).execute();
  await performJob(here.services, warnOfLicenseEnd);
  await install({ plan: 'premium' });
  assert.equal((await mailOf(here.services, jobs)).length, 0, 'another license decides by now');
});

test('a license with too few seats is refused with the numbers', async () => {
  const users = await billableCount(here.db);
  const start = { starts_at: dayFromNow(0) };
  const refused = async (restrictions: Parameters<typeof licenseText>[1], message: string) => {
    const answer = await add(await licenseText(here, { plan: 'premium', ...restrictions }, start));
    assert.deepEqual([answer.status, answer.body], [400, { message }]);
  };
  const enough = Math.ceil(users / 1.1);
  const add1 = (n: number, limit: number, period: string) =>
    `${period} ${n} active users, exceeding this license's limit of ${limit} by ${n - limit} users. ` +
    `Please add a license for at least ${n} users or contact its issuer.`;
  const now = 'This Coppice installation currently has';
  const yearBefore = 'During the year before this license started, this Coppice installation had';
  await refused({ active_user_count: enough - 1, previous_user_count: 5 }, add1(users, enough - 1, now));
  await counted(dayFromNow(-100), 110);
  await counted(dayFromNow(-400), 900);
  await refused({ active_user_count: 99, previous_user_count: 109 }, add1(110, 99, yearBefore));
  await refused({ active_user_count: 99 }, add1(110, 99, yearBefore));
  const trueUp = { trueup_from: dayFromNow(-365), trueup_to: dayFromNow(0), previous_user_count: 90 };
  await refused(
    { active_user_count: 200, ...trueUp, trueup_quantity: 10 },
    'You have applied a True-up for 10 users but you need one for 20 users. Please contact the issuer of the license.',
  );
  await refused({ active_user_count: 2, ...trueUp, trueup_quantity: 19 }, add1(users, 2, now));
  assert.deepEqual((await here.as('admin').get('/licenses')).body, []);
  await install({ plan: 'premium', active_user_count: 100, ...trueUp, trueup_quantity: 19 }, start);
  await here.db.deleteFrom('billable_counts').execute();
  await install({ plan: 'premium', active_user_count: enough, previous_user_count: 5 }, start);
  await counted(dayFromNow(-100), 110);
  await install({ plan: 'premium', active_user_count: 100 }, start);
  await install({ plan: 'premium', active_user_count: 1 }, { ...start, cloud_licensing_enabled: true });
});

test('a license that is managed elsewhere cannot be deleted', async () => {
  const { id } = await install({ plan: 'premium' }, { cloud_licensing_enabled: true });
  const answer = await here.as('admin').delete(`/license/${id}`);
  assert.deepEqual([answer.status, answer.body], [422, { message: 'Cloud licenses can not be removed.' }]);
  assert.equal((await here.as('admin').get(`/license/${id}`)).status, 200);
});

test('the usage of the current license is exported as CSV with one line per day', async () => {
  const none = await here.as('admin').get('/license/usage_export');
  assert.deepEqual([none.status, none.body], [404, { message: '404 Not Found' }]);
  const text = await licenseText(
    here,
    { plan: 'premium' },
    {
      licensee: { Email: 'ada@example.com', Company: 'Orchard, "East"' },
      starts_at: dayFromNow(-10),
      expires_at: null,
    },
  );
  await add(`${text}\r\n`);
  await here.db.deleteFrom('billable_counts').execute();
  await here.db
    .insertInto('billable_counts')
    .values([
      { day: dayFromNow(-20), count: 1, highest: 1 },
      { day: dayFromNow(-2), recorded_at: `${dayFromNow(-2)}T01:02:03Z`, count: 4, highest: 7 },
      { day: dayFromNow(-1), recorded_at: `${dayFromNow(-1)}T01:02:03Z`, count: 5, highest: 5 },
    ])
    .execute();
  const answer = await here.as('admin').get('/license/usage_export');
  assert.equal(answer.headers.get('content-type'), 'text/csv');
  assert.match(answer.headers.get('content-disposition')!, /^attachment/);
  const generated = /\nGenerated At,(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\n/.exec(answer.body)?.[1];
  const expected = [
    `License Key,"${text}\n"`,
    'Email,ada@example.com',
    `License Start Date,${dayFromNow(-10)}`,
    'License End Date,""',
    'Company,"Orchard, ""East"""',
    `Generated At,${generated}`,
    '"",""',
    'Date,Billable User Count',
    `${dayFromNow(-2)} 01:02:03,7`,
    `${dayFromNow(-1)} 01:02:03,5`,
    '',
  ];
  assert.equal(answer.body, expected.join('\n'));
  assert.equal((await here.as('admin').get('/license/usage_export.csv')).status, 200);
});
