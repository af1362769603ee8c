import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

const own = '/notification_settings';

test('settings have defaults, are changed, and say their events at the level custom only', async () => {
  const { as, project, group } = await world();
  const guest = as('guest');
  const before = await guest.get(own);
  assert.equal(before.status, 200);
  assert.deepEqual(before.body, { level: 'participating', notification_email: before.body.notification_email });
  for (const scope of [`/groups/${group.id}${own}`, `/projects/${project.id}${own}`]) {
    assert.deepEqual((await guest.get(scope)).body, { level: 'global' });
    // Remembered while the level is another one.
    assert.deepEqual((await guest.put(scope, { new_note: true, failed_pipeline: false })).body, { level: 'global' });
    const { level, events } = (await guest.put(scope, { level: 'custom', close_issue: 'true' })).body;
    assert.equal(level, 'custom');
    const on = Object.keys(events).filter((event) => events[event]);
    assert.deepEqual(on.sort(), ['close_issue', 'fixed_pipeline', 'new_note']);
    assert.equal('new_epic' in events, scope.startsWith('/groups'));
    const fewer = (await guest.put(scope, { new_note: false })).body.events;
    assert.deepEqual([fewer.new_note, fewer.close_issue], [false, true]);
    assert.deepEqual((await guest.put(scope, {})).body.events, fewer, 'nothing to change');
    assert.deepEqual((await as('owner').get(scope)).body, { level: 'global' }, 'settings of others are their own');
  }
  assert.equal((await guest.put(own, { level: 'watch' })).body.level, 'watch');
  assert.equal((await guest.get(own)).body.level, 'watch');
});

test('mail goes to a confirmed address of the user, and to the primary one when that is deleted', async () => {
  const { as, people } = await world();
  const user = `/users/${people.developer.id}/emails`;
  const primary = (await as('developer').get(own)).body.notification_email;
  const second = 'second-address@example.com';
  const { id } = (await as('admin').post(user, { email: second, skip_confirmation: true })).body;
  await as('admin').post(user, { email: 'unproved@example.com' });
  await as('admin').post(`/users/${people.guest.id}/emails`, { email: 'foreign@example.com', skip_confirmation: true });

  const set = await as('developer').put(own, { notification_email: second.toUpperCase() });
  assert.deepEqual([set.status, set.body.notification_email], [200, second]);
  for (const email of ['unproved@example.com', 'foreign@example.com', 'nobody@example.com']) {
    const refused = await as('developer').put(own, { notification_email: email, level: 'watch' });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [400, { notification_email: ['must be an email you have verified'] }],
    );
  }
  assert.deepEqual((await as('developer').put(own, { notification_email: 'no address' })).body.message, {
    notification_email: ['is invalid'],
  });
  assert.deepEqual((await as('developer').get(own)).body, { level: 'participating', notification_email: second });
  await as('admin').delete(`${user}/${id}`);
  assert.equal((await as('developer').get(own)).body.notification_email, primary);
});

test('unknown levels and values are refused by name, and nothing changes', async () => {
  const { as, project } = await world();
  const scope = `/projects/${project.id}${own}`;
  for (const [path, level] of [
    [own, 'global'],
    [own, 'loud'],
    [scope, 'loud'],
    [scope, ''],
  ] as const) {
    const refused = await as('guest').put(path, { level, new_note: true });
    assert.deepEqual([refused.status, refused.body.message], [400, `'${level}' is not a valid level`]);
  }
  assert.equal((await as('guest').put(scope, { new_note: 'perhaps' })).body.error, 'new_note is invalid');
  assert.equal((await as('guest').put(scope, { level: 'custom' })).body.events.new_note, false);
  assert.equal((await as('anonymous').get(own)).status, 401);
  assert.equal((await as('outsider').get(scope)).body.message, '404 Project Not Found');
  assert.equal((await as('outsider').put(scope, { level: 'watch' })).status, 404);
});
