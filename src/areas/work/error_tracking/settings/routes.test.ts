import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { world } from '../../../../../test/support/world.ts';

const off = {
  project_name: null,
  tracker_external_url: null,
  sentry_external_url: null,
  api_url: null,
  events_per_minute: null,
  alert_events: null,
  alert_users: null,
  alert_minutes: 60,
};

test('error tracking is set up, disabled and enabled, and the first setup creates a client key', async () => {
  const { as, project, url } = await world();
  const maintainer = as('maintainer');
  const [settings, keys] = ['settings', 'client_keys'].map((noun) => `/projects/${project.id}/error_tracking/${noun}`);
  const missing = { message: '404 Error Tracking Setting Not Found' };
  assert.deepEqual((await maintainer.get(settings!)).body, missing);
  const early = await maintainer.patch(settings!, { active: true });
  assert.deepEqual([early.status, early.body], [404, missing]);

  const unset = await maintainer.put(settings!, { active: true });
  assert.equal(unset.status, 400);
  assert.match(JSON.stringify(unset.body), /integrated is missing/);
  const elsewhere = await maintainer.put(settings!, { active: true, integrated: false });
  const required = ['is a required field'];
  assert.deepEqual([elsewhere.status, elsewhere.body], [400, { message: { api_url: required, token: required } }]);
  assert.equal((await maintainer.get(settings!)).status, 404);

  const set = await maintainer.put(settings!, { active: false, integrated: true });
  assert.deepEqual([set.status, set.body], [200, { ...off, active: false, integrated: true }]);
  assert.deepEqual((await maintainer.get(keys!)).body, []);
  assert.deepEqual((await maintainer.patch(settings!, { active: true })).body, {
    ...off,
    active: true,
    integrated: true,
  });
  assert.deepEqual((await maintainer.get(settings!)).body, { ...off, active: true, integrated: true });
  const { body: made } = await maintainer.get(keys!);
  assert.equal(made.length, 1);
  assert.match(made[0].public_key, /^glet_[0-9a-f]{32}$/);
  // The external address is not the one that the server listens at.
  assert.notEqual(url, 'http://coppice.test');
  assert.equal(
    made[0].sentry_dsn,
    `http://${made[0].public_key}@coppice.test/api/v4/error_tracking/collector/${project.id}`,
  );

  // Another time brings none.
  await maintainer.delete(`${keys}/${made[0].id}`);
  for (const active of [false, true]) assert.equal((await maintainer.patch(settings!, { active })).status, 200);
  assert.equal((await maintainer.get(keys!)).body.length, 1);
  const without = await maintainer.patch(settings!, { active: true, integrated: false });
  assert.equal(without.status, 400);
  assert.equal((await maintainer.get(settings!)).body.integrated, true);
});

test('administrators set how many events a project can send', async () => {
  const { as, project } = await world();
  const settings = `/projects/${project.id}/error_tracking/settings`;
  const on = { active: true, integrated: true };
  const refused = await as('owner').put(settings, { ...on, events_per_minute: 5 });
  const text = '403 Forbidden - Only administrators can change events_per_minute';
  assert.deepEqual([refused.status, refused.body.message], [403, text]);
  assert.equal((await as('owner').get(settings)).status, 404);
  assert.equal((await as('admin').put(settings, { ...on, events_per_minute: -1 })).status, 400);
  assert.equal((await as('admin').put(settings, { ...on, events_per_minute: 5 })).body.events_per_minute, 5);
  // What others change leaves it alone.
  assert.equal((await as('maintainer').patch(settings, { active: true })).body.events_per_minute, 5);
  assert.equal(
    (await as('admin').patch(settings, { active: true, events_per_minute: null })).body.events_per_minute,
    null,
  );
});

test('client keys are rotated by maintainers', async () => {
  const { as, project, db } = await world();
  const keys = `/projects/${project.id}/error_tracking/client_keys`;
  assert.equal((await as('developer').post(keys)).status, 403);
  const { status, body: old } = await as('maintainer').post(keys);
  assert.deepEqual([status, old.active], [201, true]);
  const { body: fresh } = await as('maintainer').post(keys);
  assert.notEqual(fresh.public_key, old.public_key);
  assert.deepEqual((await as('maintainer').get(keys)).body, [old, fresh]);
  assert.equal((await as('developer').delete(`${keys}/${old.id}`)).status, 403);
  assert.equal((await as('maintainer').delete(`${keys}/${old.id}`)).status, 204);
  const again = await as('maintainer').delete(`${keys}/${old.id}`);
  assert.deepEqual([again.status, again.body], [404, { message: '404 Not found' }]);
  assert.deepEqual((await as('maintainer').get(keys)).body, [fresh]);

  const more = Array.from({ length: 99 }, (_, index) => ({
    project_id: project.id,
    public_key: `glet_${randomBytes(14).toString('hex')}${String(index).padStart(4, '0')}`,
  }));
  await db.insertInto('error_tracking_client_keys').values(more).execute();
  const over = await as('maintainer').post(keys);
  assert.deepEqual(
    [over.status, over.body],
    [400, { message: { base: ['Maximum number of client keys (100) exceeded'] } }],
  );
});
