import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { everythingFrom, headOf, rawSocket } from '../../../../../test/support/raw_socket.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { digestErrors } from '../errors/jobs.ts';

interface Collector {
  here: World;
  key: string;
  send(
    kind: 'envelope' | 'store',
    body: string | Uint8Array<ArrayBuffer>,
    more?: { headers?: Record<string, string>; key?: string | null; query?: string },
  ): Promise<{
    status: number;
    headers: Headers;
    body: Record<string, unknown>;
  }>;
  errors(): Promise<{ name: string; events_count: number; status: string; users_count: number }[]>;
}

async function collector(): Promise<Collector> {
  const here = await world();
  const base = `/projects/${here.project.id}/error_tracking`;
  await here.as('maintainer').put(`${base}/settings`, { active: true, integrated: true });
  const [{ public_key: key }] = (await here.as('maintainer').get(`${base}/client_keys`)).body;
  return {
    here,
    key,
    async send(kind, body, { headers = {}, key: sent = key, query = '' } = {}) {
      const auth =
        sent === null ? {} : { 'x-sentry-auth': `Sentry sentry_version=7, sentry_client=test/1, sentry_key=${sent}` };
      const url = `${here.url}/api/v4/error_tracking/collector/api/${here.project.id}/${kind}/${query}`;
      const reply = await fetch(url, { method: 'POST', body, headers: { ...auth, ...headers } });
      return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Record<string, unknown> };
    },
    async errors() {
      await performQueued(here.services, [digestErrors]);
      return here.db
        .selectFrom('error_tracking_errors as errors')
        .innerJoin('error_tracking_error_texts as texts', 'texts.error_id', 'errors.id')
        .select(['name', 'events_count', 'status', 'users_count'])
        .where('errors.project_id', '=', here.project.id)
        .orderBy('errors.id')
        .execute();
    },
  };
}

const hex = (digit: string) => digit.repeat(32);
const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const envelope = (head: object, ...items: [head: object, payload: string][]) =>
  line(head) + items.map(([itemHead, payload]) => `${line(itemHead)}${payload}\n`).join('');
const failure = { exception: { values: [{ type: 'SaveError', value: 'cannot save' }] }, user: { id: 1 } };

test('an envelope is accepted in every encoding, and its event counted once', async () => {
  const { send, errors } = await collector();
  const body = (digit: string) => envelope({ event_id: hex(digit) }, [{ type: 'event' }, JSON.stringify(failure)]);
  const encodings: [string | undefined, (text: string) => string | Uint8Array<ArrayBuffer>][] = [
    [undefined, (text) => text],
    ['', (text) => text],
    ['gzip', (text) => new Uint8Array(gzipSync(text))],
    ['deflate', (text) => new Uint8Array(deflateSync(text))],
    ['deflate', (text) => new Uint8Array(deflateRawSync(text))],
    ['br', (text) => new Uint8Array(brotliCompressSync(text))],
    ['zstd', (text) => new Uint8Array(zstdCompressSync(text))],
  ];
  for (const [index, [encoding, encode]] of encodings.entries()) {
    const headers: Record<string, string> = encoding === undefined ? {} : { 'content-encoding': encoding };
    const reply = await send('envelope', encode(body(String(index))), { headers });
    assert.deepEqual([reply.status, reply.body], [200, { id: hex(String(index)) }], `${encoding}`);
    assert.match(reply.headers.get('x-sentry-rate-limits')!, /^3600:transaction;/);
    assert.equal(reply.headers.get('access-control-allow-origin'), '*');
  }
  assert.deepEqual(await errors(), [{ name: 'SaveError', events_count: 7, status: 'unresolved', users_count: 1 }]);
  assert.equal((await send('envelope', body('0'))).status, 200);
  assert.equal((await errors())[0]!.events_count, 7);
});

test('the content type is ignored, even if it is invalid', async () => {
  const { send, errors } = await collector();
  const types = [
    '',
    'nonsense',
    ';;;',
    'text/html; charset="x',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
  ];
  for (const type of types)
    for (const [kind, body] of [
      ['envelope', envelope({}, [{ type: 'event' }, JSON.stringify(failure)])],
      ['store', JSON.stringify(failure)],
    ] as const)
      assert.equal(
        (await send(kind, body, { headers: { 'content-type': type } })).status,
        200,
        `${kind} of type ${type}`,
      );
  assert.equal((await errors())[0]!.events_count, 2 * types.length);
});

test('a key comes in a header, the query or the envelope, and has to belong to the project', async () => {
  const { send, key, errors, here } = await collector();
  const other = await collector();
  const event: [object, string] = [{ type: 'event' }, JSON.stringify(failure)];
  const dsn = (name: string) => `http://${name}@coppice.test/api/v4/error_tracking/collector/${here.project.id}`;
  const accepted = [
    await send('envelope', envelope({}, event), { key: null, query: `?sentry_version=7&sentry_key=${key}` }),
    await send('envelope', envelope({ dsn: dsn(key) }, event), { key: null }),
    await send('envelope', envelope({}, event), { key: null, headers: { authorization: `sentry sentry_key=${key}` } }),
    await send('store', JSON.stringify(failure)),
    await send('store', new Uint8Array(Buffer.from(deflateSync(JSON.stringify(failure)).toString('base64')))),
  ];
  assert.deepEqual(
    accepted.map(({ status }) => status),
    Array(5).fill(200),
  );
  assert.equal((await errors())[0]!.events_count, 5);

  const none = await send('envelope', envelope({}, event), { key: null });
  assert.deepEqual([none.status, none.body], [403, { message: '403 Forbidden', detail: 'invalid client key' }]);
  assert.equal(none.headers.get('x-sentry-error'), 'invalid client key');
  assert.equal(none.headers.get('access-control-expose-headers'), 'x-sentry-error,x-sentry-rate-limits,retry-after');
  for (const wrong of [other.key, `glet_${hex('0')}`])
    assert.equal((await send('envelope', envelope({}, event), { key: wrong })).status, 404);
  const two = await send('envelope', envelope({ dsn: dsn(other.key) }, event));
  assert.deepEqual([two.status, two.body.message], [400, '400 Bad request - Failed to parse sentry request']);
  assert.equal((await send('envelope', envelope({}, event), { query: `?sentry_key=${other.key}` })).status, 400);
  assert.equal((await errors())[0]!.events_count, 5);
});

test('a new key is accepted at once, even if it was just refused', async () => {
  const { here, send } = await collector();
  const base = `/projects/${here.project.id}/error_tracking`;
  const event = envelope({}, [{ type: 'event' }, JSON.stringify(failure)]);
  const statusOf = async (more?: Parameters<typeof send>[2]) => (await send('envelope', event, more)).status;
  assert.equal(await statusOf({ key: `glet_${hex('0')}` }), 404);
  const { public_key } = (await here.as('maintainer').post(`${base}/client_keys`)).body;
  const dsn = `http://${public_key}@coppice.test/api/v4/error_tracking/collector/${here.project.id}`;
  assert.equal(
    (await send('envelope', envelope({ dsn }, [{ type: 'client_report' }, '{}']), { key: null })).status,
    200,
  );
  assert.equal(await statusOf({ key: public_key }), 200);

  const { body: other } = await here.as('owner').post('/projects', { name: `late-${here.project.path}` });
  const lateUrl = `${here.url}/api/v4/error_tracking/collector/api/${other.id}/envelope/`;
  const late = async (key: string) =>
    (await fetch(`${lateUrl}?sentry_key=${key}`, { method: 'POST', body: event })).status;
  assert.equal(await late(public_key), 404);
  await here.as('owner').put(`/projects/${other.id}/error_tracking/settings`, { active: true, integrated: true });
  const [first] = (await here.as('owner').get(`/projects/${other.id}/error_tracking/client_keys`)).body;
  assert.equal(await late(first.public_key), 200);
});

test('other items are accepted and dropped, and malformed envelopes are refused as a whole', async () => {
  const { send, errors } = await collector();
  const event: [object, string] = [{ type: 'event' }, JSON.stringify(failure)];
  const attachment = 'binary\n\nbytes';
  const mixed = envelope(
    {},
    [{ type: 'attachment', length: attachment.length }, attachment],
    [{ type: 'session' }, '{}'],
    [{ type: 'never_heard_of', own: 1 }, ''],
    event,
  );
  assert.equal((await send('envelope', mixed)).status, 200);
  const only = await send('envelope', envelope({}, [{ type: 'client_report' }, '{}']));
  assert.deepEqual([only.status, only.body], [200, {}]);
  assert.deepEqual((await send('envelope', '{}')).body, {});
  const transactions = envelope({}, [{ type: 'transaction' }, '{}'], [{ type: 'transaction' }, '{}']);
  assert.deepEqual((await send('envelope', transactions)).body, {});
  assert.equal((await errors())[0]!.events_count, 1);

  const refused: [body: string, status: number][] = [
    ['', 400],
    ['not json\n', 400],
    [envelope({}, event, event), 400],
    [envelope({}, event, [{ type: 'transaction' }, '{}']), 400],
    [envelope({}, [{ type: 'transaction' }, '{}'], event), 400],
    [envelope({}, [{ type: 'event', length: 5 }, JSON.stringify(failure)]), 400],
    [envelope({}, [{ type: 'event', length: 5000 }, JSON.stringify(failure)]), 400],
    [envelope({}, [{ no: 'type' }, '{}']), 400],
    [envelope({}, [{ type: 'event' }, '{"half":']), 400],
    [envelope({}, [{ type: 'event' }, '{"neither":true}']), 400],
    [envelope({}, [{ type: 'event' }, `{"message":"x","odd":[${'{},'.repeat(100_000)}{}]}`]), 400],
    [envelope({}, [{ type: 'event' }, JSON.stringify({ message: 'x'.repeat(2 ** 20) })]), 413],
  ];
  for (const [body, status] of refused) assert.equal((await send('envelope', body)).status, status, body.slice(0, 60));
  const damaged = await send('envelope', new Uint8Array(gzipSync(mixed).subarray(0, 40)), {
    headers: { 'content-encoding': 'gzip' },
  });
  assert.equal(damaged.status, 400);
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(3 * 2 ** 20, 0x20)));
  assert.equal((await send('store', bomb, { headers: { 'content-encoding': 'gzip' } })).status, 413);
  assert.equal((await send('envelope', mixed, { headers: { 'content-encoding': 'rot13' } })).status, 400);
  assert.equal((await errors())[0]!.events_count, 1);
});

test('a project that accepts no errors answers 404, and one over its quota 429', async () => {
  const { send, errors, here } = await collector();
  const event = envelope({}, [{ type: 'event' }, JSON.stringify(failure)]);
  await here.db
    .updateTable('error_tracking_settings')
    .set({ events_per_minute: 2 })
    .where('project_id', '=', here.project.id)
    .execute();
  const replies = await Promise.all([1, 2, 3, 4].map(() => send('envelope', event)));
  const refused = replies.filter(({ status }) => status === 429);
  assert.deepEqual([replies.filter(({ status }) => status === 200).length, refused.length], [2, 2]);
  assert.match(refused[0]!.headers.get('x-sentry-rate-limits')!, /^\d+:error;default;session:project:quota$/);
  assert.ok(Number(refused[0]!.headers.get('retry-after')) <= 60);
  assert.deepEqual(refused[0]!.body, {
    message: { error: 'This endpoint has been requested too many times. Try again later.' },
    detail: 'This endpoint has been requested too many times. Try again later.',
  });
  assert.equal((await errors())[0]!.events_count, 2);

  const url = `${here.url}/api/v4/error_tracking/collector/api`;
  const at = async (id: string | number) =>
    (await fetch(`${url}/${id}/envelope/`, { method: 'POST', body: event })).status;
  const { body: idle } = await here.as('owner').post('/projects', { name: `idle-${here.project.path}` });
  assert.deepEqual([await at(idle.id), await at('99999999999999999999'), await at('x')], [404, 404, 404]);
  const preflight = await fetch(`${url}/${here.project.id}/envelope/`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-sentry-auth',
    },
  });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get('access-control-allow-headers')!, /x-sentry-auth/i);
});

test('a project over its byte quota gets 429, for bytes read and for bytes stored', async () => {
  const large = envelope({}, [
    { type: 'event' },
    JSON.stringify({ ...failure, modules: { a: 'x'.repeat(300 * 1024) } }),
  ]);
  const attachment = 'x'.repeat(60 * 2 ** 20);
  const bomb = brotliCompressSync(envelope({}, [{ type: 'attachment', length: attachment.length }, attachment]));
  // It becomes nearly a megabyte, and is about nothing.
  const base64 = deflateSync(JSON.stringify({ own: 'x'.repeat(2 ** 20 - 100) })).toString('base64');
  const cases: [
    name: string,
    kind: 'envelope' | 'store',
    body: string | Uint8Array<ArrayBuffer>,
    encoding: string,
    allowed: number,
  ][] = [
    ['kept', 'envelope', large, '', 3],
    ['read', 'envelope', new Uint8Array(bomb), 'br', 1],
    ['read from Base64', 'store', base64, '', 99],
  ];
  for (const [name, kind, body, encoding, allowed] of cases) {
    const { send, here } = await collector();
    const settings = here.db.updateTable('error_tracking_settings').set({ events_per_minute: 10 });
    await settings.where('project_id', '=', here.project.id).execute();
    let taken = 0;
    const more = { headers: { 'content-encoding': encoding } };
    const isTaken = async () => (await send(kind, body, more)).status !== 429;
    // A minute can begin in between.
    while (taken <= 2 * allowed && (await isTaken())) taken += 1;
    assert.ok(taken >= allowed && taken <= 2 * allowed, `${name}: ${taken}`);
    const { body: other } = await here.as('owner').post(`/projects/${here.project.id}/error_tracking/client_keys`);
    const { status } = await send(kind, body, { ...more, key: other.public_key });
    assert.notEqual(status, 429, 'another key has a quota of its own');
  }
});

test('a client that sends a whole large event before reading the reply gets 413', async (t) => {
  const { here, key } = await collector();
  const event = 'x'.repeat(5 * 2 ** 20);
  const body = envelope({}, [{ type: 'event', length: event.length }, event]);
  const { hostname, port } = new URL(here.url);
  const socket = connect(Number(port), hostname).pause();
  t.after(() => socket.destroy());
  const path = `/api/v4/error_tracking/collector/api/${here.project.id}/envelope/?sentry_key=${key}`;
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.write(headOf('POST', path, { 'content-length': body.length }) + body, () => resolve());
  });
  const [reply] = (await once(socket.resume(), 'data')) as [Buffer];
  assert.match(reply.toString(), /^HTTP\/1\.1 413 /);
});

test('at most a hundred tags per error and two hundred values per tag are counted', async () => {
  const { send, errors, here } = await collector();
  const withTags = (tags: object) => envelope({}, [{ type: 'event' }, JSON.stringify({ ...failure, tags })]);
  const numbered = (from: number) =>
    Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`key-${from + index}`, 'x']));
  const counted = async () => {
    await errors();
    const tags = here.db
      .selectFrom('error_tracking_error_tags as tags')
      .innerJoin('error_tracking_errors as errors', 'errors.id', 'tags.error_id')
      .select(['key', 'value'])
      .where('errors.project_id', '=', here.project.id);
    const rows = await tags.execute();
    return { keys: new Set(rows.map(({ key }) => key)), visits: rows.filter(({ key }) => key === 'a visit').length };
  };
  // Both within a batch, and from one batch to the next.
  for (const turn of [0, 1]) {
    const visits = Array.from({ length: 120 }, (_, index) => withTags({ 'a visit': `${turn}-${index}` }));
    const bodies = [...visits, withTags(numbered(turn * 200)), withTags(numbered(turn * 200 + 100))];
    for (const { status } of await Promise.all(bodies.map((body) => send('envelope', body)))) assert.equal(status, 200);
    const { keys, visits: values } = await counted();
    assert.ok(keys.size <= 104, `${keys.size} tags`);
    assert.equal(values, turn === 0 ? 120 : 200);
    for (const own of ['environment', 'level']) assert.ok(keys.has(own), own);
  }
});

test('a resolved error that occurs again is unresolved, and an ignored one stays ignored', async () => {
  const { send, errors, here } = await collector();
  const event = () => envelope({}, [{ type: 'event' }, JSON.stringify(failure)]);
  for (const [status, then] of [
    ['resolved', 'unresolved'],
    ['ignored', 'ignored'],
  ] as const) {
    await send('envelope', event());
    await errors();
    await here.db
      .updateTable('error_tracking_errors')
      .set({ status })
      .where('project_id', '=', here.project.id)
      .execute();
    await send('envelope', event());
    assert.equal((await errors())[0]!.status, then);
  }
});

test('a client with an unknown key is refused before its body arrives, wherever the key is', async () => {
  const { here } = await collector();
  const path = `/api/v4/error_tracking/collector/api/${here.project.id}/envelope/`;
  const answerTo = async (query: string, sent: string) => {
    const socket = await rawSocket(here.url);
    socket.write(headOf('POST', path + query, { 'content-length': 1_000_000 }) + sent);
    return everythingFrom(socket);
  };
  assert.match(await answerTo('?sentry_key=glet_wrong', '{'), /^HTTP\/1\.1 404 /);
  assert.match(await answerTo('', line({ dsn: `${here.url.replace('//', '//glet_wrong@')}/1` })), /^HTTP\/1\.1 404 /);
  assert.match(await answerTo('', line({})), /^HTTP\/1\.1 403 /);
  assert.match(
    await answerTo('', `{"sdk":"${'x'.repeat(17 * 1024)}`),
    /^HTTP\/1\.1 400 [\s\S]*Failed to parse sentry request/,
  );
});

test('all wrong keys are refused alike, whatever their number, and do not lock out valid ones', async () => {
  const { send } = await collector();
  const body = envelope({ event_id: hex('e') }, [{ type: 'event' }, JSON.stringify(failure)]);
  const wrong = Array.from({ length: 25 }, () => send('envelope', body, { key: 'glet_wrong' }));
  const right = await send('envelope', body);
  assert.deepEqual([right.status, right.body], [200, { id: hex('e') }]);
  for (const reply of await Promise.all(wrong)) {
    assert.deepEqual([reply.status, reply.body], [404, { message: '404 Not Found', detail: 'Not Found' }]);
  }
});
