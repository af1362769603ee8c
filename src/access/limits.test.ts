import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../test/support/client.ts';
import { type World, world } from '../../test/support/world.ts';
import { forgetOldCounts } from './limits.ts';

/** A world whose limits are turned off when the test ends, because all worlds of a file share them. */
async function limitedWorld(t: { after(end: () => Promise<unknown>): void }, settings: object): Promise<World> {
  const here = await world({});
  t.after(async () => {
    await here.db.deleteFrom('application_settings').execute();
    await here.db.insertInto('application_settings').defaultValues().execute();
    await here.db.deleteFrom('request_counts').execute();
  });
  await here.db.updateTable('application_settings').set(settings).execute();
  return here;
}

/** Windows of a year, so that none ends while a test runs. */
const year_s = 365 * 86_400;

test('while limits are off nothing is counted and no headers are sent', async () => {
  const { as, db } = await world({});
  const answer = await as('guest').get('/user');
  assert.equal(answer.headers.has('ratelimit-limit'), false);
  assert.deepEqual(await db.selectFrom('request_counts').selectAll().execute(), []);
});

test('users are throttled separately, and responses have the remaining number', async (t) => {
  const here = await limitedWorld(t, {
    throttle_authenticated_api_enabled: true,
    throttle_authenticated_api_requests_per_period: 2,
    throttle_authenticated_api_period_in_seconds: year_s,
  });
  const first = await here.as('guest').get('/user');
  assert.equal(first.headers.get('ratelimit-name'), 'throttle_authenticated_api');
  assert.equal(first.headers.get('ratelimit-limit'), '1');
  assert.equal(first.headers.get('ratelimit-observed'), '1');
  assert.equal(first.headers.get('ratelimit-remaining'), '1');
  assert.equal(first.headers.has('retry-after'), false);
  // Refused requests count as well, and have the same headers.
  const second = await here.as('guest').get('/projects/99999999');
  assert.equal(second.status, 404);
  assert.equal(second.headers.get('ratelimit-remaining'), '0');
  const third = await here.as('guest').get('/user');
  assert.equal(third.status, 429);
  assert.deepEqual(third.body, { message: 'Retry later' });
  assert.ok(Number(third.headers.get('retry-after')) > 0);
  const reset_ms = Number(third.headers.get('ratelimit-reset')) * 1000;
  assert.equal(third.headers.get('ratelimit-resettime'), new Date(reset_ms).toUTCString());
  assert.equal((await here.as('developer').get('/user')).status, 200);

  await here.db.updateTable('application_settings').set({ rate_limiting_response_text: 'Slowly!' }).execute();
  assert.deepEqual((await here.as('guest').get('/user')).body, { message: 'Slowly!' });
  await here.db.updateTable('application_settings').set({ throttle_authenticated_api_enabled: false }).execute();
  assert.equal((await here.as('guest').get('/user')).status, 200);
});

test('without a valid token the address is throttled, also while tokens are guessed', async (t) => {
  const here = await limitedWorld(t, {
    throttle_unauthenticated_api_enabled: true,
    throttle_unauthenticated_api_requests_per_period: 2,
    throttle_unauthenticated_api_period_in_seconds: year_s,
  });
  const guess = clientOf(`${here.url}/api/v4`, 'glpat-guessed');
  assert.equal((await guess.get('/user')).status, 401);
  assert.equal(
    (await here.as('anonymous').get('/projects')).headers.get('ratelimit-name'),
    'throttle_unauthenticated_api',
  );
  assert.equal((await guess.get('/user')).status, 429);
  assert.equal((await here.as('anonymous').get('/projects')).status, 429);
  const image = await fetch(`${here.url}/uploads/-/system/issuable_metric_image/file/1/x.png`);
  assert.equal(image.status, 429, 'requests with API tokens count for the API');
  assert.equal((await fetch(`${here.url}/-/health`)).status, 200);
  assert.equal((await here.as('guest').get('/user')).headers.has('ratelimit-name'), false);
});

test('requests for files are counted separately, or with all others while their throttle is off', async (t) => {
  const here = await limitedWorld(t, {
    throttle_authenticated_api_enabled: true,
    throttle_authenticated_files_api_enabled: true,
    throttle_authenticated_files_api_requests_per_period: 1,
    throttle_authenticated_files_api_period_in_seconds: year_s,
  });
  const url = `/projects/${here.project.id}/repository/files/README.md?ref=main`;
  assert.equal((await here.as('developer').get(url)).headers.get('ratelimit-name'), 'throttle_authenticated_files_api');
  assert.equal((await here.as('developer').get(url)).status, 429);
  assert.equal((await here.as('developer').get('/user')).headers.get('ratelimit-name'), 'throttle_authenticated_api');
  await here.db.updateTable('application_settings').set({ throttle_authenticated_files_api_enabled: false }).execute();
  assert.equal((await here.as('developer').get(url)).headers.get('ratelimit-name'), 'throttle_authenticated_api');
});

test('an endpoint has a limit of its own, which resets after its window', async (t) => {
  const here = await limitedWorld(t, {
    project_api_limit: 1,
    projects_api_limit: 5,
    projects_api_rate_limit_unauthenticated: 1,
  });
  const url = `/projects/${here.project.id}`;
  // A window may end between two requests; then the next two requests are in the same window.
  const thirdOf = async () => [
    await here.as('guest').get(url),
    await here.as('guest').get(url),
    await here.as('guest').get(url),
  ];
  const refused = (await thirdOf()).find(({ status }) => status === 429);
  assert.deepEqual(refused?.body, {
    message: { error: 'This endpoint has been requested too many times. Try again later.' },
  });
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await here.as('guest').get('/projects')).status, 200);
  assert.equal((await here.as('planner').get(url)).status, 200);

  await here.db
    .updateTable('request_counts')
    .set({ ends_at: new Date('2020-01-01') })
    .execute();
  assert.equal((await here.as('guest').get(url)).status, 200);
  await here.db
    .updateTable('request_counts')
    .set({ ends_at: new Date('2020-01-01') })
    .execute();
  await forgetOldCounts(here.db);
  assert.deepEqual(await here.db.selectFrom('request_counts').selectAll().execute(), []);
});

test('users on the allowlist and administrators have no limit for looking up users', async (t) => {
  const here = await limitedWorld(t, { users_get_by_id_limit: 1 });
  const { guest, planner, outsider } = here.people;
  await here.db
    .updateTable('application_settings')
    .set({ users_get_by_id_limit_allowlist: [planner.username.toUpperCase()] })
    .execute();
  const statuses = async (persona: 'admin' | 'planner' | 'guest') => {
    const seen: number[] = [];
    for (let call = 0; call < 3; call++) seen.push((await here.as(persona).get(`/users/${outsider.id}`)).status);
    return seen;
  };
  assert.deepEqual(await statuses('admin'), [200, 200, 200]);
  assert.deepEqual(await statuses('planner'), [200, 200, 200]);
  assert.ok((await statuses('guest')).includes(429), guest.username);
});
