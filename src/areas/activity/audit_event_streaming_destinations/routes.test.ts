import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import { changePlan } from '../../../../test/support/licenses.ts';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { type World, world } from '../../../../test/support/world.ts';

let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
after(() => receiver.stop());

const removals: (() => Promise<unknown>)[] = [];
/** Destinations of the server are told of what other tests do. */
afterEach(async () => {
  for (const remove of removals.splice(0)) await remove();
  receiver.answers.clear();
  receiver.take();
});

const ofServer = '/audit_event_streaming_destinations';
const ofGroup = ({ group }: World) => `/groups/${group.id}/audit_event_streaming_destinations`;

/** Adds a destination, until the end of the test. */
async function addDestination(here: World, base: string, given: object = {}) {
  const { status, body } = await here.as('admin').post(base, { destination_url: `${receiver.url}/audit`, ...given });
  assert.equal(status, 201, JSON.stringify(body));
  const path = `${base}/${body.id}`;
  removals.push(() => here.as('admin').delete(path));
  return { ...body, path };
}

const protect = (here: World, name: string) =>
  here.as('maintainer').post(`/projects/${here.project.id}/protected_branches`, { name });

const makeDue = ({ db }: World) => sql`update hook_deliveries set due_at = now() where due_at is not null`.execute(db);

/** Waiting for what a failure made due would take minutes. */
async function endPauses(here: World): Promise<void> {
  await here.db.updateTable('hooks').set({ disabled_until: null }).execute();
  await makeDue(here);
}

test('an event is sent with what it says, its type, the token, own headers and a signature', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const key = Buffer.alloc(32, 7);
  const destination = await addDestination(here, ofGroup(here), {
    name: 'Archive',
    event_type_filters: ['protected_branch_created'],
    verification_token: 'sixteen-letters-',
    custom_headers: [{ key: 'X-Orchard', value: 'pears' }],
    signing_token: `whsec_${key.toString('base64')}`,
  });
  const { path: _, id, ...shown } = destination;
  assert.deepEqual(shown, {
    name: 'Archive',
    destination_url: `${receiver.url}/audit`,
    event_type_filters: ['protected_branch_created'],
    active: true,
    custom_headers: [{ key: 'X-Orchard' }],
    verification_token: 'sixteen-letters-',
    signing_token_present: true,
  });
  assert.deepEqual((await here.as('owner').get(ofGroup(here))).body, [{ id, ...shown }]);
  await protect(here, 'stable');
  await here.as('maintainer').delete(`/projects/${here.project.id}/protected_branches/stable`);
  await sendHooks(here);
  const [sent, ...others] = receiver.take();
  assert.equal(others.length, 0);
  const { body, headers } = sent!;
  const [event] = (await here.as('owner').get(`/projects/${here.project.id}/audit_events?per_page=100`)).body.filter(
    ({ event_name }: { event_name: string }) => event_name === 'protected_branch_created',
  );
  const { author_name, ip_address, entity_path, target_id, target_type, target_details } = event.details;
  assert.deepEqual(body, {
    ...event,
    event_type: 'protected_branch_created',
    ...{ author_name, ip_address, entity_path, target_id, target_type, target_details },
  });
  for (const prefix of ['x-gitlab-', 'x-service-']) {
    assert.equal(headers[`${prefix}event-streaming-token`], 'sixteen-letters-');
    assert.equal(headers[`${prefix}audit-event-type`], 'protected_branch_created');
    assert.equal(headers[`${prefix}token`], undefined);
    assert.equal(headers[`${prefix}event`], undefined);
  }
  assert.equal(headers['x-orchard'], 'pears');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${JSON.stringify(body)}`;
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  const { rows } = await sql`
    select from hooks where secrets::text like '%pears%' or secrets::text like '%sixteen%'
    union all select from hook_deliveries where request_headers::text like '%pears%' or request_headers::text like '%sixteen%'`.execute(
    here.db,
  );
  assert.equal(rows.length, 0, 'secrets are sealed, and not in the log');
});

test('a destination of a group gets what is below it, and one of the server gets everything', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const { as, group } = here;
  await addDestination(here, ofGroup(here), { destination_url: `${receiver.url}/group` });
  await addDestination(here, ofServer, { destination_url: `${receiver.url}/server` });
  await sendHooks(here);
  receiver.take();
  const below = await as('owner').post('/groups', { name: 'Below', path: 'below', parent_id: group.id });
  await as('owner').post(`/groups/${below.body.id}/variables`, { key: 'KEY', value: 'a value' });
  await protect(here, 'stable');
  await as('owner').post('/groups', { name: 'Beside', path: `beside-${group.id}` });
  await as('admin').put('/application/settings', { max_attachment_size: 123 });
  await sendHooks(here);
  const received = receiver.take();
  const typesAt = (place: string) =>
    received.flatMap(({ path, body }) => (path === place ? [body.event_type] : [])).toSorted();
  const common = ['ci_group_variable_created', 'group_created', 'protected_branch_created'];
  assert.deepEqual(typesAt('/group'), common);
  assert.deepEqual(typesAt('/server'), ['application_setting_updated', ...common, 'group_created'].toSorted());
});

test('what is rolled back, filtered out, or not active is not sent', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const { path } = await addDestination(here, ofGroup(here), { event_type_filters: ['protected_branch_created'] });
  const { project } = here;
  await assert.rejects(
    here.db.transaction().execute(async (tx) => {
      await tx.insertInto('protected_branches').values({ project_id: project.id, name: 'undone' }).execute();
      throw new Error('undone');
    }),
    /undone/,
  );
  await here.as('owner').post(`/projects/${project.id}/variables`, { key: 'KEY', value: 'a value' });
  await protect(here, 'stable');
  await sendHooks(here);
  assert.deepEqual(
    receiver.take().map(({ body }) => body.target_details),
    ['stable'],
  );
  assert.equal((await here.as('owner').put(path, { active: false })).body.active, false);
  await protect(here, 'quiet');
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
});

test('an event is repeated until it arrives, and what happens meanwhile arrives too', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const { path, id } = await addDestination(here, ofGroup(here), { event_type_filters: ['protected_branch_created'] });
  receiver.answers.set('/audit', (response) => response.writeHead(403).end());
  await protect(here, 'one');
  for (let attempt = 0; attempt < 6; attempt++) {
    await sendHooks(here);
    await endPauses(here);
  }
  const attempts = receiver.take();
  assert.equal(attempts.length, 6);
  assert.equal(new Set(attempts.map(({ headers }) => headers['idempotency-key'])).size, 1);
  await here.db
    .updateTable('hooks')
    .set({ disabled_until: sql`now() + interval '1 hour'` })
    .where('id', '=', id)
    .execute();
  await protect(here, 'two');
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
  receiver.answers.clear();
  await here.db.updateTable('hooks').set({ recent_failures: 39, disabled_until: null }).where('id', '=', id).execute();
  receiver.answers.set('/audit', (response) => response.writeHead(500).end());
  await sendHooks(here);
  assert.equal((await here.as('owner').get(path)).body.active, false);
  receiver.take();
  receiver.answers.clear();
  await endPauses(here);
  await sendHooks(here);
  assert.deepEqual(receiver.take(), []);
  assert.equal((await here.as('owner').put(path, { active: true })).body.active, true);
  await sendHooks(here);
  assert.deepEqual(
    receiver
      .take()
      .map(({ body }) => body.target_details)
      .toSorted(),
    ['one', 'two'],
  );
});

test('a receiver that changes something by the API for each event is told of it ten times', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  await addDestination(here, ofGroup(here), { event_type_filters: ['protected_branch_created'] });
  await protect(here, 'branch-0');
  let news = 0;
  for (;;) {
    await sendHooks(here);
    const [received] = receiver.take();
    if (!received) break;
    news += 1;
    const headers = { 'x-gitlab-event-uuid': received.headers['x-gitlab-event-uuid'] as string };
    const again = await here
      .as('maintainer')
      .post(`/projects/${here.project.id}/protected_branches`, { name: `branch-${news}` }, { headers });
    assert.equal(again.status, 201);
  }
  assert.equal(news, 11);
});

test('with another address a destination loses its headers and its signing token, and keeps its own token', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const { path, verification_token } = await addDestination(here, ofGroup(here), {
    custom_headers: [{ key: 'X-Orchard', value: 'pears' }],
    signing_token: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  });
  assert.match(verification_token, /^[\w-]{24}$/);
  const same = await here.as('owner').put(path, { destination_url: `${receiver.url}/audit`, name: 'Renamed' });
  assert.deepEqual([same.body.custom_headers, same.body.name], [[{ key: 'X-Orchard' }], 'Renamed']);
  const moved = await here.as('owner').put(path, { destination_url: `${receiver.url}/elsewhere` });
  assert.deepEqual(
    [moved.body.custom_headers, moved.body.signing_token_present, moved.body.verification_token],
    [[], false, verification_token],
  );
  await here.db
    .updateTable('hooks')
    .set({ secrets: Buffer.from('damaged') })
    .where('id', '=', moved.body.id)
    .execute();
  assert.equal((await here.as('owner').get(path)).body.verification_token, null);
  assert.match((await here.as('owner').put(path, { name: 'Mended' })).body.verification_token, /^[\w-]{24}$/);
});

test('only administrators, and owners of top-level groups, have destinations, with Ultimate', async () => {
  const here = await world({});
  const { as, group } = here;
  const given = { destination_url: 'https://audit.example.com' };
  const below = await as('owner').post('/groups', { name: 'Below', path: 'below', parent_id: group.id });
  const refused = await as('owner').post(`/groups/${below.body.id}/audit_event_streaming_destinations`, given);
  assert.deepEqual([refused.status, refused.body.message], [400, { group: ['is only for top-level groups'] }]);
  for (const [persona, base, status] of [
    ['owner', ofServer, 403],
    ['maintainer', ofGroup(here), 403],
    ['outsider', ofGroup(here), 404],
    ['anonymous', ofGroup(here), 401],
  ] as const)
    for (const answer of [await as(persona).get(base), await as(persona).post(base, given)])
      assert.equal(answer.status, status, `${persona} ${base}`);
  const [hidden, hook] = [
    await addDestination(here, ofServer, { ...given, event_type_filters: ['protected_branch_created'] }),
    await as('owner').post(`/groups/${group.id}/hooks`, { url: 'https://hooks.example.com' }),
  ];
  for (const answer of [
    await as('owner').get(`${ofGroup(here)}/${hidden.id}`),
    await as('owner').put(`${ofGroup(here)}/${hook.body.id}`, { name: 'Mine' }),
    await as('owner').delete(`${ofGroup(here)}/${hook.body.id}`),
    await as('admin').get(`/hooks/${hidden.id}`),
  ])
    assert.equal(answer.status, 404);
  assert.ok(!JSON.stringify((await as('admin').get('/hooks')).body).includes('audit.example.com'));
  await sendHooks(here);
  await here.db.deleteFrom('hook_events').execute();
  await changePlan(here, 'premium');
  const plan = await as('admin').get(ofServer);
  assert.deepEqual([plan.status, plan.body.message], [403, '403 Forbidden - This needs the Ultimate plan']);
  await protect(here, 'unsent');
  const queued = await here.db.selectFrom('hook_events').select('id').where('trigger', '=', 'audit_events').execute();
  assert.deepEqual(queued, []);
  await changePlan(here, 'ultimate');
});

test('values that cannot be used are refused', async () => {
  const here = await world({});
  await allowLocalHooks(here, false);
  const base = ofGroup(here);
  const given = { destination_url: 'https://audit.example.com' };
  for (const [wrong, status, message] of [
    [{ destination_url: undefined }, 400, 'destination_url is missing'],
    [{ destination_url: 'ftp://audit.example.com' }, 422, 'Invalid url given'],
    [{ destination_url: 'https://audit.example.com/{key}' }, 422, 'Invalid url given'],
    [{ destination_url: 'http://127.0.0.1/' }, 422, 'Invalid url given'],
    [{ verification_token: 'short' }, 400, { verification_token: ['is too short (minimum is 16 characters)'] }],
    [{ verification_token: 'x'.repeat(25) }, 400, { verification_token: ['is too long (maximum is 24 characters)'] }],
    [{ verification_token: 'sixteen\nletters' + '--' }, 400, { verification_token: ['is invalid'] }],
    [{ event_type_filters: ['a b'] }, 400, { event_type_filters: ['is invalid'] }],
    [{ event_type_filters: ['\u0000'] }, 400, undefined],
    [{ name: ' ' }, 400, { name: ["can't be blank"] }],
    [{ name: 'x'.repeat(73) }, 400, { name: ['is too long (maximum is 72 characters)'] }],
    [{ custom_headers: [{ key: 'Host', value: 'a' }] }, 400, undefined],
    [{ signing_token: 'whsec_short' }, 400, { signing_token: ['is invalid'] }],
  ] as const) {
    const answer = await here.as('owner').post(base, { ...given, ...wrong });
    assert.equal(answer.status, status, JSON.stringify(wrong));
    if (message !== undefined) assert.deepEqual(answer.body.message, message);
  }
  for (let count = 0; count < 10; count++) await addDestination(here, base, given);
  const further = await here.as('owner').post(base, given);
  assert.deepEqual(
    [further.status, further.body.message],
    [400, { base: ['Maximum number of streaming destinations (10) exceeded'] }],
  );
});

test('a group that moves into another loses its destinations, and its webhooks stay', async () => {
  const here = await world({});
  const { as, group } = here;
  await addDestination(here, ofGroup(here), { destination_url: 'https://audit.example.com' });
  await as('owner').post(`/groups/${group.id}/hooks`, { url: 'https://hooks.example.com' });
  const parent = await as('owner').post('/groups', { name: 'Above', path: `above-${group.id}` });
  assert.equal((await as('owner').post(`/groups/${group.id}/transfer`, { group_id: parent.body.id })).status, 201);
  const left = await here.db.selectFrom('hooks').select('url').where('group_id', '=', group.id).execute();
  assert.deepEqual(left, [{ url: 'https://hooks.example.com' }]);
  const told = await as('owner').get(
    `/groups/${group.id}/audit_events?event_name=deleted_group_audit_event_streaming_destination`,
  );
  assert.equal(told.body.length, 1);
});
