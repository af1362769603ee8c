import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

const nothing = { emoji: null, message: null, availability: null, message_html: null, clear_status_at: null };

test('a status is set, shown to everyone, updated in part and cleared', async () => {
  const { as, people } = await world();
  const shown = async () => (await as('anonymous').get(`/users/${people.guest.username}/status`)).body;
  assert.deepEqual(await shown(), nothing);

  const set = await as('guest').put('/user/status', { message: '<b>away</b> & "back"', availability: 'busy' });
  assert.equal(set.status, 200);
  const status = {
    emoji: 'speech_balloon',
    message: '<b>away</b> & "back"',
    availability: 'busy',
    message_html: '&lt;b&gt;away&lt;/b&gt; &amp; &quot;back&quot;',
    clear_status_at: null,
  };
  assert.deepEqual(set.body, status);
  assert.deepEqual(await shown(), status);
  assert.deepEqual((await as('guest').get('/user/status')).body, status);
  assert.deepEqual((await as('outsider').get(`/users/${people.guest.id}/status`)).body, status);

  const changed = await as('guest').patch('/user/status', { emoji: 'coffee' });
  assert.deepEqual(changed.body, { ...status, emoji: 'coffee' });
  assert.deepEqual((await as('guest').patch('/user/status', {})).body, changed.body);

  const replaced = await as('guest').put('/user/status', { emoji: 'tea' });
  assert.deepEqual(replaced.body, {
    emoji: 'tea',
    message: null,
    availability: 'not_set',
    message_html: null,
    clear_status_at: null,
  });
  assert.deepEqual((await as('guest').put('/user/status', {})).body, nothing);
  assert.deepEqual(await shown(), nothing);
});

test('a status expires and does not reappear with the next update', async () => {
  const { as, people, db } = await world();
  const set = await as('guest').put('/user/status', { message: 'lunch', clear_status_after: '3_hours' });
  const inHours = (Date.parse(set.body.clear_status_at) - Date.now()) / 3_600_000;
  assert.ok(inHours > 2.9 && inHours < 3.1);
  await db
    .updateTable('user_statuses')
    .set({ clear_status_at: new Date(Date.now() - 1000) })
    .where('user_id', '=', people.guest.id)
    .execute();
  assert.deepEqual((await as('guest').get('/user/status')).body, nothing);
  const changed = await as('guest').patch('/user/status', { emoji: 'tea' });
  assert.equal(changed.body.message, null);
  assert.equal(changed.body.emoji, 'tea');
});

test('invalid statuses are refused and change nothing', async () => {
  const { as } = await world();
  for (const [change, message] of [
    [{ message: 'x'.repeat(101) }, { message: ['is too long (maximum is 100 characters)'] }],
    [{ emoji: 'no such thing' }, { emoji: ['is not a valid emoji name'] }],
    [{ availability: 'gone' }, 'availability does not have a valid value'],
    [{ clear_status_after: '1_year' }, 'clear_status_after does not have a valid value'],
  ] as const) {
    const refused = await as('guest').put('/user/status', change);
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.body.message, message);
  }
  assert.deepEqual((await as('guest').get('/user/status')).body, nothing);
  assert.equal((await as('anonymous').get('/user/status')).status, 401);
  assert.equal((await as('anonymous').put('/user/status', { emoji: 'tea' })).status, 401);
  assert.deepEqual((await as('guest').get('/users/nobody-here/status')).body, { message: '404 User Not Found' });
});
