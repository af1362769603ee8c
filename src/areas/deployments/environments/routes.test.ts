import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { endEnvironments } from './jobs.ts';
import { maximumEnvironments } from './rules.ts';

const at = ({ project }: World, rest = '') => `/projects/${project.id}/environments${rest}`;
const names = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name);
const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();

test('Developers create environments, which get a slug and a tier by their name', async () => {
  const here = await world();
  const { as, project } = here;
  const { status, body } = await as('developer').post(at(here), {
    name: 'production',
    external_url: 'https://a.example/',
  });
  assert.equal(status, 201);
  const { id, created_at, updated_at, ...rest } = body;
  assert.deepEqual(rest, {
    name: 'production',
    slug: 'production',
    description: null,
    external_url: 'https://a.example/',
    tier: 'production',
    state: 'available',
    auto_stop_at: null,
    last_deployment: null,
  });
  assert.equal((await as('reporter').post(at(here), { name: 'staging' })).status, 403);
  const tiers = [];
  for (const name of ['review/Fix-1', 'Integration', 'pre', 'live', 'moon'])
    tiers.push((await as('developer').post(at(here), { name })).body);
  assert.deepEqual(
    tiers.map(({ tier }) => tier),
    ['development', 'testing', 'staging', 'production', 'other'],
  );
  assert.match(tiers[0].slug, /^review-fix-1-[a-z0-9]{6}$/);
  const digits = await as('developer').post(at(here), { name: '2 very long names of an environment', tier: 'other' });
  assert.match(digits.body.slug, /^env-[a-z0-9-]{13}-[a-z0-9]{6}$/);

  const { body: list } = await as('reporter').get(at(here));
  assert.equal(list.length, 7);
  assert.equal(list[0].project.path_with_namespace, project.full_path);
  assert.deepEqual(names(await as('reporter').get(at(here), { search: 'INT' })), ['Integration']);
  assert.deepEqual(names(await as('reporter').get(at(here), { name: 'live' })), ['live']);
  assert.deepEqual(names(await as('reporter').get(at(here), { states: 'stopped' })), []);
  assert.equal((await as('reporter').get(at(here, `/${id}`))).body.name, 'production');
});

test('invalid fields are refused by name, and change nothing', async () => {
  const here = await world();
  const { as } = here;
  const { body: there } = await as('developer').post(at(here), { name: 'here' });
  const pattern =
    "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";
  const refusals: [Record<string, unknown>, unknown][] = [
    [{}, 'name is missing'],
    [{ name: ' ' }, { name: ["can't be blank"] }],
    [{ name: 'a/' }, { name: [pattern] }],
    [{ name: 'ä' }, { name: [pattern] }],
    [{ name: 'a'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'here' }, { name: ['has already been taken'] }],
    [
      { name: 'a', external_url: 'ftp://a.example' },
      { external_url: ['is blocked: Only allowed schemes are http, https'] },
    ],
    [{ name: 'a', slug: 'b' }, 'slug is automatically generated and cannot be changed'],
    [{ name: 'a', tier: 'moon' }, 'tier does not have a valid value'],
    [{ name: 'a', description: 'a'.repeat(10_001) }, { description: ['is too long (maximum is 10000 characters)'] }],
    [{ name: 'a', auto_stop_at: '2020-01-01' }, { auto_stop_at: ['must be in the future'] }],
    [{ name: 'a', auto_stop_in: 'soon' }, { auto_stop_in: ['is not a correct duration'] }],
    [{ name: 'a', auto_stop_in: '1 day', auto_stop_at: days(1) }, 'auto_stop_at, auto_stop_in are mutually exclusive'],
  ];
  for (const [body, message] of refusals) {
    const refused = await as('developer').post(at(here), body);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  await as('developer').post(at(here), { name: 'other' });
  assert.equal((await as('developer').put(at(here, `/${there.id}`), { name: 'other' })).status, 400);
  assert.deepEqual(names(await as('reporter').get(at(here))), ['here', 'other']);
  const both = await as('reporter').get(at(here), { name: 'a', search: 'abc' });
  assert.equal(both.body.message, 'name, search cannot be used together');
  const short = await as('reporter').get(at(here), { search: 'ab' });
  assert.equal(short.body.message, '400 Bad request - Search query is less than 3 characters');
});

test('an environment is changed, stopped, and deleted when it is stopped', async () => {
  const here = await world();
  const { as } = here;
  const { body } = await as('developer').post(at(here), { name: 'staging', external_url: 'https://a.example' });
  const url = at(here, `/${body.id}`);
  const changed = await as('developer').put(url, {
    name: 'moved',
    external_url: '',
    tier: 'testing',
    description: '*a*',
  });
  assert.deepEqual(
    [changed.body.name, changed.body.slug, changed.body.external_url, changed.body.tier, changed.body.description],
    ['moved', 'staging', null, 'testing', '*a*'],
  );
  assert.deepEqual([(await as('developer').delete(url)).status, (await as('reporter').get(url)).status], [403, 200]);
  assert.equal((await as('reporter').post(`${url}/stop`)).status, 403);
  for (const _ of [1, 2]) {
    const stopped = await as('developer').post(`${url}/stop`);
    assert.deepEqual([stopped.status, stopped.body.state], [200, 'stopped']);
  }
  assert.equal((await as('reporter').delete(url)).status, 403);
  assert.deepEqual([(await as('developer').delete(url)).status, (await as('reporter').get(url)).status], [204, 404]);
});

test('the access level of environments and the visibility of the project determine who can read them', async () => {
  const here = await world();
  const { as, project } = here;
  const reads = async (...personas: Parameters<typeof as>[0][]) =>
    Promise.all(personas.map(async (persona) => (await as(persona).get(at(here))).status));
  assert.deepEqual(await reads('anonymous', 'outsider', 'guest', 'reporter'), [401, 404, 403, 200]);
  await as('admin').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await as('owner').put(`/projects/${project.id}`, { visibility: 'public' });
  assert.deepEqual(await reads('anonymous', 'outsider', 'guest', 'reporter'), [401, 200, 200, 200]);
  await as('owner').put(`/projects/${project.id}`, { environments_access_level: 'private' });
  assert.deepEqual(await reads('outsider', 'guest', 'reporter'), [403, 200, 200]);
  // Deployments tell of commits and branches.
  await as('owner').put(`/projects/${project.id}`, {
    environments_access_level: 'enabled',
    repository_access_level: 'private',
  });
  assert.deepEqual(await reads('outsider', 'guest', 'reporter'), [403, 200, 200]);
  await as('owner').put(`/projects/${project.id}`, { repository_access_level: 'disabled' });
  assert.deepEqual(await reads('reporter', 'owner', 'admin'), [403, 403, 403]);
  assert.equal((await as('maintainer').post(at(here), { name: 'late' })).status, 403);
  await as('owner').put(`/projects/${project.id}`, { repository_access_level: 'enabled' });
  await as('owner').put(`/projects/${project.id}`, { environments_access_level: 'disabled' });
  assert.deepEqual(await reads('reporter', 'owner', 'admin'), [403, 403, 403]);
});

test('if two requests compete for the last environment, or for one name, one succeeds', async () => {
  const here = await world();
  const { as, db, project } = here;
  const same = await Promise.all([1, 2].map(() => as('developer').post(at(here), { name: 'same' })));
  assert.deepEqual(same.map(({ status }) => status).sort(), [201, 400]);
  const rows = Array.from({ length: maximumEnvironments - 2 }, (_, index) => ({
    project_id: project.id,
    name: `n${index}`,
    slug: `n${index}`,
    tier: 'other',
  }));
  for (let start = 0; start < rows.length; start += 2500)
    await db
      .insertInto('environments')
      .values(rows.slice(start, start + 2500))
      .execute();
  const last = await Promise.all(['a', 'b'].map((name) => as('developer').post(at(here), { name })));
  assert.deepEqual(last.map(({ status }) => status).sort(), [201, 400]);
  assert.deepEqual(last.find(({ status }) => status === 400)?.body.message, {
    base: ['Maximum number of environments (10000) exceeded'],
  });
});

test('expired environments stop, and a deployment extends their auto-stop time', async () => {
  const here = await filledWorld();
  const { as, db, services, project } = here;
  const { body } = await as('developer').post(at(here), { name: 'review/one', auto_stop_in: '3 days' });
  assert.ok(Math.abs(Date.parse(body.auto_stop_at) - Date.parse(days(3))) < 60_000);
  const passed = () =>
    db
      .updateTable('environments')
      .set({ auto_stop_at: days(-1) })
      .where('id', '=', body.id)
      .execute();
  await passed();
  await performJob(services, endEnvironments);
  const state = async () => (await as('reporter').get(at(here, `/${body.id}`))).body;
  assert.equal((await state()).state, 'stopped');

  const sha = await headOf(here);
  const deployment = { environment: 'review/one', sha, ref: 'main', tag: false, status: 'success' };
  assert.equal((await as('developer').post(`/projects/${project.id}/deployments`, deployment)).status, 201);
  const revived = await state();
  assert.equal(revived.state, 'available');
  assert.ok(Date.parse(revived.auto_stop_at) > Date.parse(days(2)));
  assert.equal(revived.last_deployment.sha, sha);
  const cleared = await as('developer').put(at(here, `/${body.id}`), { auto_stop_at: null });
  assert.equal(cleared.body.auto_stop_at, null);
});

test('stale environments stop, and old review apps are deleted a week later', async () => {
  const here = await filledWorld();
  const { as, db, services } = here;
  const add = async (name: string) => (await as('developer').post(at(here), { name })).body.id as number;
  const [review, other, fresh] = [await add('review/old'), await add('old'), await add('review/new')];
  const before = days(-40);
  await db
    .updateTable('environments')
    .set({ created_at: before, updated_at: before })
    .where('id', 'in', [review, other])
    .execute();
  const stale = at(here, '/stop_stale');
  assert.equal((await as('developer').post(stale, { before: days(-8) })).status, 403);
  for (const [given, message] of [
    [undefined, 'before is missing'],
    [days(-1), '400 Bad request - Invalid Date'],
    [days(-4000), '400 Bad request - Invalid Date'],
  ])
    assert.equal((await as('maintainer').post(stale, { before: given })).body.message, message);
  const stopped = await as('maintainer').post(stale, { before: days(-8) });
  assert.deepEqual(
    [stopped.status, stopped.body],
    [200, { message: 'Successfully scheduled stale environments to stop' }],
  );
  assert.deepEqual(names(await as('reporter').get(at(here), { states: 'stopped' })), ['old', 'review/old']);

  const apps = at(here, '/review_apps');
  const shown = await as('developer').delete(apps);
  assert.deepEqual([shown.status, names({ body: shown.body.scheduled_entries })], [200, ['review/old']]);
  const scheduled = await as('developer').delete(apps, { dry_run: false });
  assert.deepEqual(names({ body: scheduled.body.scheduled_entries }), ['review/old']);
  assert.deepEqual((await as('developer').delete(apps)).body, { scheduled_entries: [], unprocessable_entries: [] });
  const run = () => performJob(services, endEnvironments);
  await run();
  assert.equal((await as('reporter').get(at(here, `/${review}`))).status, 200);
  await db
    .updateTable('environments')
    .set({ auto_delete_at: days(-1) })
    .where('id', '=', review)
    .execute();
  await run();
  assert.equal((await as('reporter').get(at(here, `/${review}`))).status, 404);
  assert.equal((await as('reporter').get(at(here, `/${fresh}`))).status, 200);
});
