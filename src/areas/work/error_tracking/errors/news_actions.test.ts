import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reports, thrown } from '../../../../../test/support/error_tracking.ts';
import { mailOf } from '../../../../../test/support/mail.ts';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../../test/support/receiver.ts';
import { type Persona, type World, world } from '../../../../../test/support/world.ts';
import type { Mail } from '../../../../mail/index.ts';
import { collectNotifications, sendNotification } from '../../../activity/notifications/index.ts';

let here: World;
let receiver: Receiver;
before(async () => {
  here = await world({});
  receiver = await startReceiver();
  await allowLocalHooks(here);
});
after(() => receiver.stop());

const mails = (): Promise<Mail[]> => mailOf(here.services, [collectNotifications, sendNotification]);

/** The personas who get mail for what has happened since the last call, with the events. */
async function received(): Promise<string[]> {
  const names = Object.entries(here.people).map(([persona, { username }]) => [username, persona] as const);
  const of = (address: string) => names.find(([username]) => address.startsWith(`${username}@`))![1];
  return (await mails()).map(({ to, headers }) => `${of(to.address)} ${headers!['X-Service-Event']}`).sort();
}

const set = async (persona: Persona, settings: object) =>
  assert.equal(
    (await here.as(persona).put(`/projects/${here.project.id}/notification_settings`, { ...settings })).status,
    200,
  );

test('new and regressed errors are sent to members who subscribe to them and may read errors, to webhooks and to the activity', async () => {
  const { as, people, project } = here;
  const { errors, report } = await reports(here);
  const hooks = `/projects/${project.id}/hooks`;
  const hook = { url: `${receiver.url}/errors`, push_events: false, error_events: true };
  const { body: added } = await as('maintainer').post(hooks, hook);
  assert.equal(added.error_events, true);
  const none = await as('maintainer').post(`${hooks}/${added.id}/test/error_events`);
  assert.deepEqual([none.status, none.body.message], [422, 'Ensure the project has errors.']);
  for (const persona of ['developer', 'guest', 'planner'] as const) await set(persona, { level: 'watch' });
  await set('reporter', { level: 'custom', new_error: true });
  await set('maintainer', { level: 'custom', regressed_error: true });

  const event = thrown('TypeError', 'x is\nundefined <b>', { release: 'v1' });
  await report(event, event);
  const sent = await mails();
  assert.deepEqual(
    sent.map(({ to }) => to.address.split('@')[0]).sort(),
    [people.developer.username, people.reporter.username].sort(),
    'neither guests nor planners may read errors',
  );
  const [error] = (await as('reporter').get(errors)).body;
  const { name } = (await as('owner').get(`/projects/${project.id}`)).body;
  assert.equal(sent[0]!.subject, `${name} | TypeError x is undefined <b> (${error.id})`);
  assert.equal(sent[0]!.paragraphs[0], `Error ${error.id} is new: TypeError x is undefined <b>`);
  assert.ok(JSON.stringify(sent[0]!.paragraphs).includes(error.web_url));
  await report(event);
  assert.deepEqual(await received(), [], 'it is not new any more');

  await as('developer').put(`${errors}/${error.id}`, { status: 'resolved', assignee_id: people.owner.id });
  await report(event);
  assert.deepEqual(await received(), [
    'developer regressed_error',
    'maintainer regressed_error',
    'owner regressed_error',
  ]);
  await as('maintainer').put(errors, { ids: [error.id], status: 'ignored' });
  await report(event);
  assert.deepEqual(await received(), []);

  await sendHooks(here);
  const bodies = receiver.take();
  assert.ok(
    bodies.every(({ headers, body }) => headers['x-gitlab-event'] === 'Error Hook' && body.object_kind === 'error'),
  );
  const seen = bodies.map(({ body: { object_attributes: it, user } }) => [
    it.action,
    it.status,
    user?.username ?? null,
  ]);
  const { developer, maintainer } = people;
  assert.deepEqual(
    seen.sort(),
    [
      ['new', 'unresolved', null],
      ['resolved', 'resolved', developer.username],
      ['regressed', 'unresolved', null],
      ['ignored', 'ignored', maintainer.username],
    ].sort(),
  );
  const { object_attributes } = bodies[0]!.body;
  assert.deepEqual([object_attributes.id, object_attributes.url], [error.id, error.web_url]);
  assert.equal((await as('maintainer').post(`${hooks}/${added.id}/test/error_events`)).status, 201);
  receiver.take();
  await as('maintainer').delete(`${hooks}/${added.id}`);

  const activity = async (persona: Persona) =>
    (await as(persona).get(`/projects/${project.id}/events`)).body
      .filter(({ target_type }: { target_type: string }) => target_type === 'TrackedError')
      .map((one: Record<string, unknown>) => [one.action_name, one.target_id, one.target_title, one.author_username]);
  assert.deepEqual(await activity('reporter'), [['closed', error.id, 'TypeError', developer.username]]);
  assert.deepEqual(await activity('planner'), []);
});

test('an error that occurs too often alerts the members who may read it, once per interval', async () => {
  const { as, project } = here;
  const { report } = await reports(here);
  const settings = `/projects/${project.id}/error_tracking/settings`;
  for (const [name, bad] of [
    ['alert_events', 0],
    ['alert_users', 1001],
    ['alert_minutes', 1441],
  ] as const)
    assert.equal((await as('maintainer').patch(settings, { active: true, [name]: bad })).status, 400);
  assert.equal((await as('developer').patch(settings, { active: true, alert_events: 3 })).status, 403);
  const { body } = await as('maintainer').patch(settings, {
    active: true,
    alert_events: 3,
    alert_users: 2,
    alert_minutes: 30,
  });
  assert.deepEqual([body.alert_events, body.alert_users, body.alert_minutes], [3, 2, 30]);
  for (const persona of ['developer', 'guest', 'planner', 'reporter', 'maintainer'] as const)
    await set(persona, { level: 'global' });

  const at = (minutes: number, more: object = {}) => ({ timestamp: Date.now() / 1000 - minutes * 60, ...more });
  await report(thrown('Often', 'o', at(35)), thrown('Often', 'o', at(34)), thrown('Often', 'o', at(1)));
  assert.deepEqual(await received(), [], 'three, but not within 30 minutes');
  await report(thrown('Often', 'o', at(1)), thrown('Often', 'o', at(0)));
  assert.deepEqual(
    await received(),
    ['developer', 'maintainer', 'owner', 'reporter'].map((persona) => `${persona} error_alert`),
  );
  await report(thrown('Often', 'o'), thrown('Often', 'o'));
  assert.deepEqual(await received(), [], 'once in 30 minutes');

  await set('owner', { level: 'disabled' });
  await set('maintainer', { level: 'custom' });
  await report(thrown('Many', 'm', at(1, { user: { id: 1 } })), thrown('Many', 'm', at(1, { user: { id: 1 } })));
  assert.deepEqual(await received(), [], 'one user');
  await report(thrown('Many', 'm', at(0, { user: { id: 2 } })));
  assert.deepEqual(await received(), ['developer error_alert', 'reporter error_alert']);
  const off = await as('maintainer').patch(settings, { active: true, alert_events: null, alert_users: null });
  assert.deepEqual([off.body.alert_events, off.body.alert_users, off.body.alert_minutes], [null, null, 30]);
});

test('a burst of new errors sends each member at most twenty messages an hour, and alerts come first', async () => {
  const { as, db, project } = here;
  const { report } = await reports(here);
  await set('developer', { level: 'watch' });
  await db.updateTable('error_tracking_notices').set({ began_at: '2020-01-01T00:00:00Z' }).execute();
  const settings = `/projects/${project.id}/error_tracking/settings`;
  await as('maintainer').patch(settings, { active: true, alert_events: 2 });
  const burst = Array.from({ length: 30 }, (_, index) =>
    thrown('Burst', String.fromCharCode(97 + index), { fingerprint: [`${index}`] }),
  );
  await report(...burst, thrown('Last', 'l'), thrown('Last', 'l'));
  const events = await received();
  assert.equal(events.filter((event) => event === 'developer new_error').length, 19);
  assert.equal(events.filter((event) => event === 'developer error_alert').length, 1);
  await report(thrown('Later', 'l'));
  assert.deepEqual(await received(), []);
  await db.updateTable('error_tracking_notices').set({ began_at: '2020-01-01T00:00:00Z' }).execute();
  await report(thrown('In the next hour', 'n'));
  assert.deepEqual(await received(), ['developer new_error']);
});
