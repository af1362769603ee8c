import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import { selfSigned } from '../../../../test/support/certificate.ts';
import { performJob } from '../../../../test/support/jobs.ts';
import { leadHere } from '../../../../test/support/names.ts';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { announceComposedEvents, announceEvents, removeOldHookEvents } from './index.ts';

let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
after(() => receiver.stop());

const removals: (() => Promise<unknown>)[] = [];
/** With a hook goes what it has not been sent: on a slow machine, a repetition is due in a later test. */
afterEach(async () => {
  for (const remove of removals.splice(0)) await remove();
  receiver.answers.clear();
  receiver.take();
});

/** Adds a hook for issues, until the end of the test. */
async function addHook(
  here: World,
  path: string,
  given: Record<string, unknown> = {},
): Promise<{ id: number; path: string }> {
  const base = `/projects/${here.project.id}/hooks`;
  const added = await here
    .as('maintainer')
    .post(base, { url: receiver.url + path, issues_events: true, push_events: false, ...given });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const ownPath = `${base}/${added.body.id}`;
  removals.push(() => here.as('maintainer').delete(ownPath));
  return { id: added.body.id, path: ownPath };
}

const addIssue = async (here: World, title = 'Prune') =>
  (await here.as('developer').post(`/projects/${here.project.id}/issues`, { title })).body;

const makeDue = (here: World, hook_id: number) =>
  sql`update hook_deliveries set due_at = now() where due_at is not null and hook_id = ${hook_id}`.execute(here.db);

test('a delivery carries the headers of v4, the token, custom headers and a signature', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const key = Buffer.alloc(32, 9);
  const hook = await addHook(here, '/signed/{room}', {
    token: 'open sesame',
    signing_token: `whsec_${key.toString('base64')}`,
    url_variables: [{ key: 'room', value: 'cellar' }],
    custom_headers: [{ key: 'X-Orchard', value: 'pears' }],
  });
  await addIssue(here, 'Prune the pears');
  assert.deepEqual(receiver.received, []);
  await sendHooks(here);
  const [delivery, ...others] = receiver.take();
  assert.deepEqual(others, []);
  const { path, headers, body } = delivery!;
  assert.equal(path, '/signed/cellar');
  assert.match(headers['user-agent']!, /^Coppice\/\d/);
  for (const prefix of ['x-gitlab-', 'x-service-']) {
    assert.equal(headers[`${prefix}event`], 'Issue Hook');
    assert.equal(headers[`${prefix}token`], 'open sesame');
    assert.equal(headers[`${prefix}instance`], 'http://coppice.test');
    assert.equal(headers[`${prefix}webhook-uuid`], headers['idempotency-key']);
    assert.match(String(headers[`${prefix}event-uuid`]), /^[0-9a-f-]{36}$/);
  }
  assert.equal(headers['x-orchard'], 'pears');
  assert.equal(headers['webhook-id'], headers['idempotency-key']);
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${JSON.stringify(body)}`;
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  assert.equal(body.object_attributes.title, 'Prune the pears');

  const [event, ...rest] = (await here.as('maintainer').get(`${hook.path}/events`)).body;
  assert.deepEqual(rest, []);
  assert.deepEqual([event.trigger, event.response_status, event.response_body], ['issue_hooks', '200', 'thanks']);
  assert.deepEqual(event.request_data, body);
  assert.equal(event.url, `${receiver.url}/signed/{room}`);
  assert.equal(event.request_headers['X-Gitlab-Token'], '[REDACTED]');
  assert.ok(!/sesame|pears"|cellar/.test(JSON.stringify({ ...event, request_data: null })));
  assert.equal((await here.as('developer').get(`${hook.path}/events`)).status, 403);

  const again = await here.as('maintainer').post(`${hook.path}/events/${event.id}/resend`);
  assert.deepEqual([again.status, again.body], [201, { response_status: 200 }]);
  assert.deepEqual(receiver.take()[0]!.body, body);
  assert.equal((await here.as('maintainer').get(`${hook.path}/events`, { status: 'successful' })).body.length, 2);
  assert.equal((await here.as('maintainer').get(`${hook.path}/events`, { status: 500 })).body.length, 0);
  assert.equal((await here.as('maintainer').get(`${hook.path}/events`, { status: 'x' })).status, 400);
  assert.equal((await here.as('maintainer').post(`${hook.path}/events/999999999/resend`)).status, 404);
  await here.as('maintainer').put(hook.path, { url: `${receiver.url}/elsewhere` });
  const stale = await here.as('maintainer').post(`${hook.path}/events/${event.id}/resend`);
  assert.deepEqual(
    [stale.status, stale.body.message],
    [422, 'The hook URL has changed. This log entry cannot be retried.'],
  );
  assert.deepEqual(receiver.take(), []);
});

test('addresses of the local network are refused when they are stored, and again when they are requested', async (t) => {
  const here = await world({});
  t.after(() => allowLocalHooks(here));
  await allowLocalHooks(here);
  const hook = await addHook(here, '/local');
  await allowLocalHooks(here, false);
  const refused = await here.as('maintainer').post(`/projects/${here.project.id}/hooks`, { url: receiver.url });
  assert.deepEqual([refused.status, refused.body.message], [422, 'Invalid url given']);
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
  const [event] = (await here.as('maintainer').get(`${hook.path}/events`)).body;
  assert.deepEqual(
    [event.response_status, event.response_body],
    ['internal error', 'Requests to localhost are not allowed'],
  );
  // Administrators decide about the hooks of the server.
  const system = await here.as('admin').post('/hooks', { url: `${receiver.url}/system` });
  assert.equal(system.status, 201);
  assert.equal((await here.as('admin').post(`/hooks/${system.body.id}`)).body.event_name, 'project_create');
  assert.equal(receiver.take()[0]!.headers['x-gitlab-event'], 'System Hook');
  await here.as('admin').delete(`/hooks/${system.body.id}`);
});

test('a name that leads to this machine is refused when the connection is made', async (t) => {
  const here = await world({});
  t.after(() => allowLocalHooks(here));
  leadHere(t, 'hooks.example.com');
  await allowLocalHooks(here, false);
  const url = `http://hooks.example.com:${new URL(receiver.url).port}/named`;
  const hook = await addHook(here, '', { url });
  const event = async () => (await here.as('maintainer').get(`${hook.path}/events`)).body[0];
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
  assert.equal((await event()).response_body, 'Requests to localhost are not allowed');
  await allowLocalHooks(here);
  await makeDue(here, hook.id);
  await sendHooks(here);
  assert.deepEqual([receiver.take().map(({ path }) => path), (await event()).response_status], [['/named'], '200']);
});

test('a certificate must be valid, unless the webhook disables the check', async (t) => {
  const here = await world({});
  await allowLocalHooks(here);
  const secure = await startReceiver(selfSigned);
  t.after(() => secure.stop());
  const hook = await addHook(here, '', { url: `${secure.url}/tls` });
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(secure.take(), []);
  const [event] = (await here.as('maintainer').get(`${hook.path}/events`)).body;
  assert.equal(event.response_status, 'internal error');
  assert.equal(event.response_body, 'The certificate is not trusted: it is self-signed');
  await here.as('maintainer').put(hook.path, { enable_ssl_verification: false });
  await makeDue(here, hook.id);
  await sendHooks(here);
  assert.deepEqual(
    secure.take().map(({ path }) => path),
    ['/tls'],
  );
});

test('a delivery that takes more than ten seconds has failed, and is repeated', async (t) => {
  const here = await world({});
  await allowLocalHooks(here);
  const { timeout } = AbortSignal;
  const clock = new AbortController();
  const { mock } = t.mock.method(AbortSignal, 'timeout', (ms: number) => (ms === 10_000 ? clock.signal : timeout(ms)));
  t.after(() => mock.restore());
  receiver.answers.set('/late', () => clock.abort());
  const hook = await addHook(here, '/late');
  await addIssue(here);
  await sendHooks(here);
  mock.restore();
  const [event] = (await here.as('maintainer').get(`${hook.path}/events`)).body;
  assert.deepEqual([event.response_status, event.response_body], ['internal error', 'No response within 10 seconds']);
  receiver.answers.delete('/late');
  await makeDue(here, hook.id);
  await sendHooks(here);
  assert.equal(new Set(receiver.take().map(({ headers }) => headers['idempotency-key'])).size, 1);
});

test('a receiver that triggers its own webhook gets eleven deliveries, if it passes the ID of the event on', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  await addHook(here, '/loop');
  const { iid } = await addIssue(here);
  const change = (title: string, headers = {}) =>
    here.as('developer').put(`/projects/${here.project.id}/issues/${iid}`, { title }, { headers });
  let news = 0;
  for (;;) {
    await sendHooks(here);
    const received = receiver.take();
    if (received.length === 0) break;
    news += received.length;
    const { headers } = received[0]!;
    const name = news % 2 === 0 ? 'x-gitlab-event-uuid' : 'x-service-event-uuid';
    assert.equal((await change(`Change ${news}`, { [name]: headers[name] })).status, 200);
  }
  assert.equal(news, 11);
  assert.equal((await here.as('developer').get(`/projects/${here.project.id}/issues/${iid}`)).body.title, 'Change 11');
  for (const headers of [{}, { 'x-gitlab-event-uuid': 'no uuid' }]) {
    await change(`By someone ${Object.keys(headers).length}`, headers);
    await sendHooks(here);
    assert.equal(receiver.take().length, 1);
  }
});

test('a redirect is not followed', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  receiver.answers.set('/redirect', (response) =>
    response.writeHead(302, { location: `${receiver.url}/target` }).end(),
  );
  const hook = await addHook(here, '/redirect');
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(
    receiver.take().map(({ path }) => path),
    ['/redirect'],
  );
  assert.equal((await here.as('maintainer').get(`${hook.path}/events`)).body[0].response_status, '302');
});

test('failures are repeated with the same key, disable the webhook for a while and then for good, and a test enables it', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  receiver.answers.set('/failing', (response) => response.writeHead(500).end('x'.repeat(10_000)));
  const hook = await addHook(here, '/failing');
  const status = async () => (await here.as('maintainer').get(hook.path)).body;
  await addIssue(here);
  for (let attempt = 1; attempt <= 4; attempt++) {
    await sendHooks(here);
    assert.equal(receiver.received.length, attempt);
    await makeDue(here, hook.id);
  }
  const attempts = receiver.take();
  assert.equal(new Set(attempts.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.equal(new Set(attempts.map(({ body }) => JSON.stringify(body))).size, 1);
  const paused = await status();
  assert.equal(paused.alert_status, 'temporarily_disabled');
  assert.ok(Date.parse(paused.disabled_until) > Date.now());
  const [event] = (await here.as('maintainer').get(`${hook.path}/events`, { status: 'server_failure' })).body;
  assert.equal(event.response_body.length, 8192);

  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);

  await here.db
    .updateTable('hooks')
    .set({ recent_failures: 39, disabled_until: null })
    .where('id', '=', hook.id)
    .execute();
  await addIssue(here);
  await sendHooks(here);
  assert.equal((await status()).alert_status, 'disabled');
  receiver.take();

  const failed = await here.as('maintainer').post(`${hook.path}/test/issues_events`);
  assert.deepEqual([failed.status, failed.body.message], [422, 'Hook executed, but returned status 500']);
  receiver.answers.delete('/failing');
  const tested = await here.as('maintainer').post(`${hook.path}/test/issues_events`);
  assert.deepEqual([tested.status, tested.body], [201, { message: '201 Created' }]);
  const enabled = await status();
  assert.deepEqual([enabled.alert_status, enabled.disabled_until], ['executable', null]);
});

test('a webhook that does not answer keeps no other waiting', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const hung: { end(): void }[] = [];
  const reached = Promise.withResolvers<void>();
  receiver.answers.set('/hanging', (response) => {
    hung.push(response);
    if (hung.length === 2) reached.resolve();
  });
  const answered = Promise.withResolvers<void>();
  receiver.answers.set('/prompt', (response) => {
    response.end();
    if (receiver.received.filter(({ path }) => path === '/prompt').length === 6) answered.resolve();
  });
  await addHook(here, '/hanging');
  await addHook(here, '/prompt');
  for (let count = 0; count < 6; count++) await addIssue(here);
  const sent = sendHooks(here);
  await Promise.all([reached.promise, answered.promise]);
  assert.equal(hung.length, 2);
  receiver.answers.delete('/hanging');
  for (const response of hung) response.end();
  await sent;
  assert.equal(receiver.take().filter(({ path }) => path === '/hanging').length, 6);
});

test('an event whose body a version before composed is sent with its holes filled', async () => {
  const here = await filledWorld({});
  await allowLocalHooks(here);
  const hook = await addHook(here, '/composed');
  await addIssue(here);
  await sendHooks(here);
  const { project, user, repository } = receiver.take()[0]!.body;
  const { full_path } = here.project;
  const { rows } = await sql<{ id: string }>`
    insert into hook_events (trigger, is_system, hook_ids, facts)
    select 'issues_events', false, array[${hook.id}]::bigint[], json_build_object(
             'user', json_build_object('$person', json_build_object('id', users.id, 'name', users.name, 'username', users.username, 'avatar', null, 'public_email', '')),
             'project', json_build_object('$project', json_build_object(
               'id', projects.id, 'name', projects.name, 'description', projects.description, 'avatar', null, 'namespace', namespaces.name,
               'visibility', projects.visibility, 'full_path', projects.full_path, 'default_branch', projects.default_branch)),
             'repository', json_build_object('$repository', json_build_object(
               'name', projects.name, 'description', projects.description, 'visibility', projects.visibility, 'full_path', projects.full_path)),
             'pages', json_build_array(json_build_object('$url', '/one'), json_build_object('$commit', null), 2))
      from projects join namespaces on namespaces.id = projects.namespace_id, users
     where projects.id = ${here.project.id} and users.id = ${here.people.developer.id}
    returning id`.execute(here.db);
  await performJob(here.services, announceComposedEvents, rows[0]!);
  await sendHooks(here);
  const pages = ['http://coppice.test/one', null, 2];
  assert.deepEqual(
    receiver.take().map(({ body }) => JSON.stringify(body)),
    [JSON.stringify({ user, project, repository, pages })],
  );
  assert.equal(project.path_with_namespace, full_path);
});

test('deliveries pending when a process died are sent by the next run, and events without a subscriber leave no row', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const count = async () =>
    Number((await sql<{ count: string }>`select count(*) from hook_events`.execute(here.db)).rows[0]!.count);
  const before = await count();
  await addIssue(here, 'Nobody asks');
  assert.equal(await count(), before);
  const hook = await addHook(here, '/crash', { confidential_issues_events: false });
  await here.as('developer').post(`/projects/${here.project.id}/issues`, { title: 'Secret', confidential: true });
  assert.equal(await count(), before);
  await addIssue(here, 'Told');
  assert.equal(await count(), before + 1);
  // The first run announces it and dies before it sends; a job that starts over announces nothing twice.
  const { rows } = await sql<{ id: string }>`select id from hook_events where ${hook.id} = any(hook_ids)`.execute(
    here.db,
  );
  await performJob(here.services, announceEvents, { id: rows[0]!.id });
  await sendHooks(here);
  assert.deepEqual(
    receiver.take().map(({ body }) => body.object_attributes.title),
    ['Told'],
  );
  await sql`update hook_events set created_at = now() - interval '8 days'`.execute(here.db);
  await performJob(here.services, removeOldHookEvents);
  assert.equal(await count(), 0);
  assert.deepEqual((await here.as('maintainer').get(`${hook.path}/events`)).body, []);
});

test('a template makes the body, and one that makes no JSON is not sent', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const custom_webhook_template = '{"said":"{{object_attributes.title}}","by":"{{user.username}}","none":"{{a.b}}"}';
  const hook = await addHook(here, '/template', { custom_webhook_template });
  await addIssue(here, 'A "quoted" \\ title');
  await sendHooks(here);
  assert.deepEqual(receiver.take()[0]!.body, {
    said: 'A "quoted" \\ title',
    by: here.people.developer.username,
    none: '',
  });
  await here.as('maintainer').put(hook.path, { custom_webhook_template: '{{object_kind}}' });
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
  const [event] = (await here.as('maintainer').get(`${hook.path}/events`)).body;
  assert.equal(event.response_body, 'The custom webhook template does not make valid JSON');
  const description = 'x'.repeat(1024 * 1024);
  const many = '{{object_attributes.description}}'.repeat(26);
  await here.as('maintainer').put(hook.path, { custom_webhook_template: `{"all":"${many}"}` });
  const long = await here.as('developer').post(`/projects/${here.project.id}/issues`, { title: 'Long', description });
  assert.equal(long.status, 201);
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
  const [refused] = (await here.as('maintainer').get(`${hook.path}/events`)).body;
  assert.equal(refused.response_body, 'The custom webhook template makes too long a body');
  const waiting = sql`select from hook_deliveries where hook_id = ${hook.id} and due_at is not null`;
  assert.equal((await waiting.execute(here.db)).rows.length, 0);
});

test('a test sends the newest data, and refuses without any and when it is asked too often', async () => {
  const here = await filledWorld({});
  await allowLocalHooks(here);
  const hook = await addHook(here, '/test');
  const ask = (trigger: string) => here.as('maintainer').post(`${hook.path}/test/${trigger}`);
  for (const [trigger, message] of [
    ['issues_events', 'Ensure the project has issues.'],
    ['note_events', 'Ensure the project has notes.'],
  ]) {
    const refused = await ask(trigger!);
    assert.deepEqual([refused.status, refused.body.message], [422, message]);
  }
  assert.equal((await ask('x_events')).status, 400);
  assert.equal((await here.as('developer').post(`${hook.path}/test/push_events`)).status, 403);
  assert.equal((await ask('push_events')).status, 201);
  const { body } = receiver.take()[0]!;
  assert.deepEqual(
    [body.ref, body.commits.map(({ message }: { message: string }) => message)],
    ['refs/heads/main', ['Change a file']],
  );
  const issue = await addIssue(here, 'Newest');
  receiver.take();
  assert.equal((await ask('issues_events')).status, 201);
  assert.equal(receiver.take()[0]!.body.object_attributes.iid, issue.iid);
  await ask('issues_events');
  const often = await ask('issues_events');
  assert.equal(often.status, 429);
});

test('a hook whose secrets cannot be decrypted is shown, receives nothing, and delays no other', async () => {
  const here = await world({});
  const takenPaths = () => receiver.take().map(({ path }) => path);
  await allowLocalHooks(here);
  const broken = await addHook(here, '/broken', { token: 'open sesame' });
  await addHook(here, '/whole');
  await here.db
    .updateTable('hooks')
    .set({ secrets: Buffer.alloc(64) })
    .where('id', '=', broken.id)
    .execute();
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(takenPaths(), ['/whole']);
  const [event] = (await here.as('maintainer').get(`${broken.path}/events`)).body;
  const text = 'The secrets of the webhook cannot be decrypted. Set them again.';
  assert.deepEqual([event.response_status, event.response_body], ['internal error', text]);
  assert.equal((await here.as('maintainer').get(broken.path)).body.token_present, false);
  // A new token mends it.
  const mended = await here.as('maintainer').put(broken.path, { token: 'open again' });
  assert.deepEqual([mended.status, mended.body.token_present], [200, true]);
  await addIssue(here);
  await sendHooks(here);
  assert.deepEqual(new Set(takenPaths()), new Set(['/broken', '/whole']));
});
