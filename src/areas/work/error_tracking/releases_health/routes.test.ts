import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { world } from '../../../../../test/support/world.ts';
import { intakeGuard } from '../collector/guard_queries.ts';
import { digestErrors } from '../errors/jobs.ts';

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const hex = (digit: string) => digit.repeat(32);

/** A project whose events may wait three at a time, and an SDK that sends to it. */
async function receiving() {
  const here = await world({ environment: { COPPICE_INGEST_QUEUE_MAX: '3' } });
  const base = `/projects/${here.project.id}/error_tracking`;
  await here.as('maintainer').put(`${base}/settings`, { active: true, integrated: true });
  const [{ public_key }] = (await here.as('maintainer').get(`${base}/client_keys`)).body;
  const url = `${here.url}/api/v4/error_tracking/collector/api/${here.project.id}/envelope/?sentry_key=${public_key}`;
  const send = async (...items: [type: string, payload: unknown][]) => {
    const text = items.map(
      ([type, payload]) => line({ type }) + (typeof payload === 'string' ? `${payload}\n` : line(payload)),
    );
    const reply = await fetch(url, {
      method: 'POST',
      body: line({ sent_at: new Date().toISOString() }) + text.join(''),
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Record<string, unknown> };
  };
  return {
    here,
    send,
    health: async (query: object = {}) => (await here.as('reporter').get(`${base}/releases_health`, { ...query })).body,
    /** Sends what is no event. */
    async sendAll(...items: [type: string, payload: unknown][]) {
      const { status, body } = await send(...items);
      assert.deepEqual([status, body], [200, {}]);
    },
  };
}

const attrs = { release: 'app@1.0', environment: 'staging' };
/** A session a number of seconds after its start. */
const session = (digit: string, status: string, after_s: number, more: object = {}) => {
  const started = Date.now() - 60_000;
  const timestamp = new Date(started + after_s * 1000).toISOString();
  return [
    'session',
    { sid: hex(digit), status, started: new Date(started).toISOString(), timestamp, attrs, ...more },
  ] as [string, unknown];
};
const none = { started: 0, exited: 0, errored: 0, crashed: 0, abnormal: 0 };

test('a session counts once, in its final state, and buckets count as sent', async () => {
  const { here, health, sendAll } = await receiving();
  assert.deepEqual(await health(), []);
  await sendAll(session('1', 'ok', 0, { init: true, did: 'ada' }));
  const [{ last_seen_at, ...first }] = await health();
  assert.deepEqual(first, { ...attrs, ...none, started: 1, users: 1, crash_free_sessions: 100 });
  assert.ok(Date.parse(last_seen_at) > Date.now() - 600_000);

  await sendAll(
    session('1', 'ok', 1, { errors: 1, did: 'ada' }),
    session('2', 'ok', 0),
    session('2', 'exited', 5, { did: 'bob' }),
  );
  await sendAll(
    session('1', 'crashed', 9, { errors: 1 }),
    session('3', 'abnormal', 5),
    session('4', 'errored', 5),
    session('5', 'ok', 1),
  );
  // Late: what the session was before.
  await sendAll(session('1', 'ok', 3, { errors: 1, did: 'ada' }), session('2', 'ok', 2));
  const [after] = await health();
  assert.deepEqual(
    { ...after, last_seen_at: 0 },
    {
      ...attrs,
      started: 1,
      exited: 1,
      errored: 1,
      crashed: 1,
      abnormal: 1,
      users: 2,
      crash_free_sessions: 80,
      last_seen_at: 0,
    },
  );

  const bucket = { started: new Date().toISOString(), exited: 7, crashed: 1, errored: -5, abnormal: 'x' };
  await sendAll(['sessions', { aggregates: [bucket, { ...bucket, crashed: 0 }], attrs: { release: 'app@2.0' } }]);
  const newest = {
    release: 'app@2.0',
    environment: 'production',
    ...none,
    exited: 14,
    crashed: 1,
    users: 0,
    crash_free_sessions: 93.33,
  };
  const all = await health();
  assert.deepEqual({ ...all[0], last_seen_at: 0 }, { ...newest, last_seen_at: 0 });
  assert.equal(all.length, 2);
  assert.equal((await health({ environment: 'staging' })).length, 1);
  assert.equal((await health({ release: 'app@2.0', environment: 'staging' })).length, 0);
  assert.equal((await health({ per_page: 1, page: 2 }))[0].release, 'app@1.0');
  assert.equal((await here.as('guest').get(`/projects/${here.project.id}/error_tracking/releases_health`)).status, 403);
});

test('invalid sessions are accepted and dropped, and only a hundred per envelope count', async () => {
  const { health, sendAll } = await receiving();
  await sendAll(
    ['session', 'no json'],
    ['session', []],
    ['session', { sid: hex('1') }],
    ['session', { sid: 'x', attrs }],
    ['session', { sid: hex('1'), attrs, filler: 'x'.repeat(20_000) }],
    ['sessions', { aggregates: 5, attrs }],
    ['sessions', null],
    ['user_report', { event_id: 'x' }],
    ['user_report', { event_id: hex('9'), comments: 'about an event that there is not' }],
  );
  assert.deepEqual(await health(), []);
  await sendAll(
    ...Array.from({ length: 101 }, (_, index): [string, unknown] => [
      'session',
      { sid: index.toString(16).padStart(32, '0'), attrs: { release: 'a\0b' }, status: 'exited' },
    ]),
  );
  const buckets = Array.from({ length: 101 }, () => ({ started: new Date().toISOString(), exited: 1 }));
  await sendAll(['sessions', { aggregates: buckets, attrs: { release: 'ab' } }]);
  const found = await health();
  assert.deepEqual([found.length, found[0].release, found[0].exited], [1, 'ab', 200]);
});

test('user reports are kept with their event, before and after it is grouped, and events beyond the queue limit are refused', async () => {
  const { here, send } = await receiving();
  const event = (digit: string): [string, unknown] => ['event', { event_id: hex(digit), message: 'broken' }];
  const report = (digit: string, comments: string): [string, unknown] => [
    'user_report',
    { event_id: hex(digit), name: 'Ada', email: 'ada@example.com', comments },
  ];
  assert.equal((await send(event('1'), report('1', 'with it'))).status, 200);
  assert.equal((await send(event('2'))).status, 200);
  assert.equal((await send(report('2', 'before'))).status, 200);
  await performQueued(here.services, [digestErrors]);
  assert.equal((await send(report('2', 'after'))).status, 200);
  const stored = () =>
    here.db
      .selectFrom('error_tracking_events')
      .select(['event_id', 'user_report'])
      .where('project_id', '=', here.project.id)
      .orderBy('id')
      .$castTo<{ event_id: string; user_report: { comments: string; name: string } | null }>()
      .execute();
  assert.deepEqual(
    (await stored()).map(({ user_report }) => user_report?.comments),
    ['with it', 'after'],
  );
  assert.equal((await stored())[0]!.user_report!.name, 'Ada');

  // A measurement holds for a second, so that it is not certain which of them are refused.
  const replies = [];
  for (const digit of '3456789abc') replies.push(await send(event(digit)));
  const refused = replies.find(({ status }) => status === 429);
  assert.equal(refused?.body.detail, 'the server takes no errors at the moment');
  assert.equal(refused.headers.get('x-sentry-rate-limits'), '60:error;default;session:organization:intake');
  assert.equal(refused.headers.get('retry-after'), '60');
  assert.ok((await stored()).length <= 5);
  await performQueued(here.services, [digestErrors]);

  const roomy = { queue_max: 1, folder: '/', min_free_disk_mb: 0 };
  assert.equal(await intakeGuard(roomy).isFull(here.db), false);
  assert.equal(await intakeGuard({ ...roomy, min_free_disk_mb: 1e12 }).isFull(here.db), true);
  assert.equal(await intakeGuard({ ...roomy, folder: '/never/there', min_free_disk_mb: 1e12 }).isFull(here.db), false);
});
