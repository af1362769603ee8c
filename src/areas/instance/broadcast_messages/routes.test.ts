import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { cloneFor } from '../../../../test/support/pushing.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

const hour_ms = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hour_ms).toISOString();

test('administrators show a message to everybody, by default for an hour', async () => {
  const { as } = await world({});
  const admin = as('admin');
  const made = await admin.post('/broadcast_messages', { message: 'Harvest', target_path: '/nowhere' });
  const { id, starts_at, ends_at, ...rest } = made.body;
  assert.equal(made.status, 201);
  assert.equal(Date.parse(ends_at) - Date.parse(starts_at), hour_ms);
  assert.deepEqual(rest, {
    message: 'Harvest',
    color: null,
    font: null,
    target_access_levels: [],
    target_path: '/nowhere',
    broadcast_type: 'banner',
    theme: 'indigo',
    dismissable: false,
    active: true,
  });
  const url = `/broadcast_messages/${id}`;
  assert.deepEqual((await as('anonymous').get(url)).body, made.body);
  assert.equal((await as('anonymous').get('/broadcast_messages')).body[0].id, id);
  const changes = { ends_at: inHours(-1), starts_at: inHours(-2), color: '#abc', target_access_levels: [30, 40] };
  const changed = await admin.put(url, changes);
  assert.deepEqual(changed.body, { ...made.body, ...changes, active: false });
  assert.deepEqual((await admin.put(url)).body, changed.body);
  for (const [persona, status] of [
    ['anonymous', 401],
    ['owner', 403],
  ] as const)
    assert.equal((await as(persona).put(url, { message: 'x' })).status, status);
  assert.equal((await admin.delete(url)).status, 204);
  const gone = await admin.get(url);
  assert.deepEqual([gone.status, gone.body.message], [404, '404 Not found']);
});

test('invalid messages are refused', async () => {
  const { as } = await world({});
  const refusals: [object, unknown][] = [
    [{}, 'message is missing, message is empty'],
    [{ message: 'a', color: 'red' }, { color: ['is not a valid color'] }],
    [{ message: 'a', font: '#12345' }, { font: ['is not a valid color'] }],
    [{ message: 'a', theme: 'pink' }, undefined],
    [{ message: 'a', target_access_levels: [5] }, undefined],
    [{ message: 'a', ends_at: inHours(-1) }, { ends_at: ['must be after starts_at'] }],
    [{ message: 'a'.repeat(10_001) }, { message: ['is too long (maximum is 10000 characters)'] }],
  ];
  const before = (await as('admin').get('/broadcast_messages')).body.length;
  for (const [given, message] of refusals) {
    const refused = await as('admin').post('/broadcast_messages', { ...given });
    assert.equal(refused.status, 400, JSON.stringify(given));
    if (message !== undefined) assert.deepEqual(refused.body.message, message);
  }
  assert.equal((await as('admin').get('/broadcast_messages')).body.length, before);
});

test('a message is on the pages and for the roles that it names, until its reader dismisses it', async () => {
  const here = await world({});
  const { as, project, people } = here;
  const page = `/${project.full_path}/-/issues`;
  const message =
    '**Mind** the [ladder](https://ladder.example) <script>alert(1)</script> ![Map](https://other.example/map.png)';
  const given = { message, target_path: `/${project.full_path}/*`, dismissable: true, theme: 'light-red' };
  const { id } = await sent(as('admin').post('/broadcast_messages', given));
  const reader = await browserOf(here, people.reporter);
  const shown = await reader.get(page);
  assert.match(shown.html, /class="broadcast theme-of-light-red"><p><strong>Mind<\/strong> the <a /);
  assert.doesNotMatch(shown.html, /<script>alert|other\.example/);
  assert.match(shown.html, /<img src="\/-\/picture\/[^"]+"[^>]* alt="Map"/);
  assert.doesNotMatch((await reader.get('/')).html, /Mind/);

  await sent(as('admin').put(`/broadcast_messages/${id}`, { target_access_levels: [30] }));
  assert.doesNotMatch((await reader.get(page)).html, /Mind/);
  const developer = await browserOf(here, people.developer);
  assert.match((await developer.get(page)).html, /Mind/);
  const dismissed = await developer.send('/-/dismissed_messages', 'dismiss', { message_id: String(id), to: page });
  assert.deepEqual([dismissed.status, dismissed.to], [303, page]);
  assert.doesNotMatch((await developer.get(page)).html, /Mind/);
  await sent(as('admin').put(`/broadcast_messages/${id}`, { dismissable: false }));
  assert.match((await developer.get(page)).html, /Mind/);
  await as('admin').delete(`/broadcast_messages/${id}`);
});

test('users who push are shown banners for their role in the project', async () => {
  const here = await filledWorld({});
  const { as, project } = here;
  const target_path = `/${project.full_path}`;
  const common = { target_path, ends_at: inHours(2) };
  const messages = [
    { message: 'Freeze at noon\nSave your work', target_access_levels: [30] },
    { message: 'For owners', target_access_levels: [50] },
    { message: 'Only on pages', show_in_cli: false },
    { message: 'A notification', broadcast_type: 'notification' },
    { message: 'Tomorrow', starts_at: inHours(1) },
  ];
  for (const message of messages) await sent(as('admin').post('/broadcast_messages', { ...common, ...message }));
  const clone = await cloneFor(here, 'developer');
  await clone.begin('topic');
  await clone.commit();
  const { code, stderr } = await clone.push('http', 'topic');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /remote: Freeze at noon *\n.*Save your work/);
  assert.doesNotMatch(stderr, /For owners|Only on pages|A notification|Tomorrow/);
});
