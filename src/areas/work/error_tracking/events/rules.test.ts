import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import type { Json } from '../payload/rules.ts';
import { type Receipt, readEvent } from './rules.ts';
import { crashFrames } from './stack_rules.ts';

const received_at = new Date('2026-03-01T12:00:00Z');
const receipt: Receipt = { received_at, sender: '192.0.2.7', user_salt: createSecretKey(Buffer.from('salt')) };
const read = (event: Json, more: Partial<Receipt> = {}) => {
  const found = readEvent(event, { ...receipt, ...more });
  assert.ok(found);
  return found;
};
const frame = (name: string, more = {}) => ({ function: name, filename: `/app/${name}.js`, in_app: true, ...more });
const thrown = (type: string, value: string, ...names: string[]) => ({
  type,
  value,
  ...(names.length > 0 ? { stacktrace: { frames: names.map((name) => frame(name)) } } : {}),
});

test('the thrown exception gives the name of the event, and its last own frame the culprit', () => {
  const event = read({
    event_id: '0123456789abcdef-0123-4567-89abcdef-0123'.replaceAll('-', ''),
    platform: 'python',
    exception: {
      values: [thrown('OSError', 'disk full', 'write'), thrown('SaveError', 'cannot save', 'main', 'save')],
    },
  });
  assert.deepEqual(
    [event.name, event.description, event.actor, event.platform, event.level, event.environment, event.release],
    ['SaveError', 'cannot save', 'save(/app/save.js)', 'python', 'error', 'production', null],
  );
  // Some SDKs send the exceptions without a wrapper.
  assert.equal(read({ exception: [thrown('SaveError', 'x')] }).name, 'SaveError');
  assert.equal(read({ exception: [{ value: 'x' }], platform: 'cobol' }).platform, 'other');
});

test('frames and exceptions are found where old SDKs put them', () => {
  const frames = [frame('main'), frame('save')];
  const exception = { type: 'SaveError', value: 'x' };
  for (const event of [
    { exception, stacktrace: { frames } },
    { exception: { values: [exception] }, stacktrace: frames },
    { exception: { ...exception, stacktrace: frames } },
    { 'sentry.interfaces.Exception': exception, 'sentry.interfaces.Stacktrace': { frames } },
    { 'sentry.interfaces.Exception': { values: [{ ...exception, stacktrace: { frames } }] } },
    { exception, threads: { values: [{ stacktrace: { frames: [] }, crashed: true }] }, stacktrace: { frames } },
  ] as Json[]) {
    const { name, actor, payload } = read(event);
    assert.deepEqual([name, actor], ['SaveError', 'save(/app/save.js)'], JSON.stringify(event));
    assert.equal(crashFrames(JSON.parse(payload)).length, 2);
  }
  const said = read({ 'sentry.interfaces.Message': { message: 'no %s', params: ['apples'] }, stacktrace: { frames } });
  assert.deepEqual([said.name, said.actor], ['no apples', 'save(/app/save.js)']);
  const named = read({ message: 'new', 'sentry.interfaces.User': { id: 1 }, user: { id: 2 } });
  assert.deepEqual(named.user_hash, read({ message: 'x', user: { id: 2 } }).user_hash);
  const many = Array.from({ length: 60 }, (_, index) => frame(`f${index}`));
  assert.equal(crashFrames(JSON.parse(read({ message: 'x', stacktrace: { frames: many } }).payload)).length, 50);
});

test('a level is one of five, even if an SDK uses another name for it', () => {
  const given = ['fatal', 'warning', 'info', 'debug', 'log', 'critical', 'loud', 35, null, {}, 'toString'];
  assert.deepEqual(
    given.map((level) => read({ message: 'x', level }).level),
    ['fatal', 'warning', 'info', 'debug', 'info', 'fatal', 'error', 'error', 'error', 'error', 'error'],
  );
  assert.deepEqual(
    [10, 20, 30, 40, '50'].map((level) => read({ message: 'x', level }).level),
    ['debug', 'info', 'warning', 'error', 'fatal'],
  );
});

test('an exception may be sent without a list, and its value can be anything', () => {
  const event = read({ exception: thrown('TypeError', 'x is undefined', 'a') });
  assert.deepEqual([event.name, event.description, event.actor], ['TypeError', 'x is undefined', 'a(/app/a.js)']);
  const said = (value: Json) => read({ exception: [{ type: 'Rejection', value }] }).description;
  assert.equal(said({ code: 7, why: ['late'] }), '{"code":7,"why":["late"]}');
  assert.equal(said(['late', 7]), '["late",7]');
  assert.equal(said(7), '7');
  assert.equal(readEvent({ exception: {} }, receipt), undefined);
});

test('a message is an event too, with the stack of a synthetic exception or of a thread', () => {
  const plain = read({ message: 'first line\nsecond line' });
  assert.deepEqual(
    [plain.name, plain.description, plain.actor],
    ['first line', 'first line\nsecond line', 'first line'],
  );
  const stack = { frames: [frame('ask')] };
  const synthetic = read({
    message: 'slow',
    exception: { values: [{ value: 'slow', mechanism: { synthetic: true }, stacktrace: stack }] },
  });
  assert.deepEqual([synthetic.name, synthetic.actor], ['slow', 'ask(/app/ask.js)']);
  const ofThread = read({
    logentry: { message: 'slow %s', params: ['x'], formatted: 'slow x' },
    threads: [{ current: true, stacktrace: stack }],
  });
  assert.deepEqual([ofThread.name, ofThread.actor], ['slow x', 'ask(/app/ask.js)']);
  // Old SDKs leave it to the server to fill in the parameters.
  const said = (message: string, params: Json) => read({ logentry: { message, params } }).description;
  assert.equal(said('%s of %(all)s: %d%%, %5.1f', ['one', 2, 3.5]), 'one of %(all)s: 2%, 3.5');
  assert.equal(said('%(who)s picked %(what)r', { who: 'Ada', what: ['apples'] }), 'Ada picked %(what)r');
  assert.equal(said('100% sure', []), '100% sure');
  assert.equal(said('%(a)s'.repeat(150), { a: 'x' }), `${'x'.repeat(100)}${'%(a)s'.repeat(50)}`);
  for (const event of [null, [], 'text', 3, {}, { message: '' }, { exception: { values: [] } }, { exception: 'x' }])
    assert.equal(readEvent(event as Json, receipt), undefined, JSON.stringify(event));
});

test('events are grouped by their stack, or by their message if there is none', () => {
  const group = (event: Json) => read(event).fingerprint;
  const of = (value: string, ...names: string[]) => ({ exception: [thrown('TypeError', value, ...names)] });
  assert.match(group(of('x', 'a')), /^[0-9a-f]{32}$/);
  assert.equal(group(of('x', 'a', 'b')), group(of('y', 'a', 'b')));
  assert.notEqual(group(of('x', 'a', 'b')), group(of('x', 'a', 'c')));
  // The frames of libraries count only when there are no others.
  const library = { ...frame('library'), in_app: false };
  const withLibrary = { exception: [{ type: 'TypeError', stacktrace: { frames: [library, frame('a')] } }] };
  assert.equal(group(withLibrary), group({ exception: [{ type: 'TypeError', stacktrace: { frames: [frame('a')] } }] }));
  // Values differ from one event to the next.
  assert.equal(group(of('user 17 not found')), group(of('user 18 not found')));
  assert.equal(group(of('no "apple"')), group(of('no "pear"')));
  assert.notEqual(group(of('not found')), group(of('not allowed')));
  assert.equal(
    group({ logentry: { message: 'hello %s', formatted: 'hello Ada' } }),
    group({ logentry: { message: 'hello %s', formatted: 'hello Bob' } }),
  );
  // A fingerprint of the sender.
  const own = (event: object, ...fingerprint: string[]) => group({ ...event, fingerprint } as Json);
  assert.equal(own(of('x', 'a'), 'mine'), own(of('y', 'b'), 'mine'));
  assert.notEqual(own(of('x', 'a'), '{{ default }}', 'mine'), own(of('x', 'b'), '{{default}}', 'mine'));
  assert.equal(own(of('x', 'a'), '{{ default }}'), own(of('y', 'a'), '{{default}}'));
});

test('users are identified only within a project, by their first identifying field', () => {
  const user = (user: Json, more = {}) => read({ message: 'x', user }, more).user_hash?.toString('hex');
  assert.equal(user({ id: 7, email: 'a@example.com' }), user({ id: '7' }));
  assert.notEqual(user({ id: 7 }), user({ id: 8 }));
  assert.notEqual(user({ id: 7 }), user({ id: 7 }, { user_salt: createSecretKey(Buffer.from('other')) }));
  assert.equal(user({ ip_address: '{{auto}}' }), user({ ip_address: '192.0.2.7' }));
  assert.equal(
    JSON.parse(read({ message: 'x', user: { ip_address: '{{auto}}' } }).payload).user.ip_address,
    '192.0.2.7',
  );
  for (const none of [undefined, null, {}, { name: 'Ada' }, { id: '' }, 'Ada'])
    assert.equal(user(none as Json), undefined);
});

test('times of the sender are used if they are plausible', () => {
  const at = (timestamp: Json, more = {}) => read({ message: 'x', timestamp }, more).occurred_at.toISOString();
  assert.equal(at('2026-03-01T11:00:00Z'), '2026-03-01T11:00:00.000Z');
  assert.equal(at(received_at.getTime() / 1000 - 3600), '2026-03-01T11:00:00.000Z');
  assert.equal(at('2026-03-01T13:00:00Z', { clock_offset_ms: 2 * 3_600_000 }), '2026-03-01T11:00:00.000Z');
  for (const odd of ['2026-03-01T12:02:00Z', '2026-01-01T00:00:00Z', 'yesterday', {}, null, 1e300])
    assert.equal(at(odd), received_at.toISOString(), JSON.stringify(odd));
});

test('a time without a zone is in UTC, whatever the time zone of the server', (t) => {
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  process.env.TZ = 'America/New_York';
  for (const timestamp of ['2026-03-01T11:00:00', '2026-03-01 11:00:00.000', '2026-03-01T06:00:00-05:00'])
    assert.equal(read({ message: 'x', timestamp }).occurred_at.toISOString(), '2026-03-01T11:00:00.000Z', timestamp);
});

test('invalid and too large values are dropped, and the rest is kept', () => {
  let deep: Json = 'bottom';
  for (let level = 0; level < 20_000; level++) deep = [deep];
  const frames = Array.from({ length: 120 }, (_, index) => frame(`f${index}`));
  const event = read({
    message: 'nul \0 and half \ud800',
    deep,
    tags: [['key', 'value'], ['k'.repeat(40), 'v'.repeat(300)], 'odd', ['none', null]],
    contexts: { small: { a: 1 }, large: { text: 'x'.repeat(9000) } },
    extra: { small: 1, large: 'x'.repeat(17_000) },
    breadcrumbs: Array.from({ length: 150 }, (_, index) => ({ message: String(index) })),
    threads: [
      { current: true, stacktrace: { frames: [...frames, null, 'odd', { function: { odd: true }, lineno: 'x' }] } },
    ],
    own: { kept: true },
    unknown: 'x'.repeat(17_000),
    ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`many-${index}`, 'y'.repeat(1000)])),
    ['__proto__']: { polluted: true },
  } as unknown as Json);
  assert.deepEqual(event.tags, {
    key: 'value',
    ['k'.repeat(32)]: 'v'.repeat(200),
    environment: 'production',
    level: 'error',
  });
  const payload = JSON.parse(event.payload);
  assert.doesNotMatch(event.payload, /\\u0000|\\ud800/);
  assert.deepEqual([payload.contexts, payload.extra, payload.own], [{ small: { a: 1 } }, { small: 1 }, { kept: true }]);
  assert.deepEqual([payload.breadcrumbs.values.length, payload.breadcrumbs.values.at(-1).message], [100, '149']);
  assert.deepEqual(payload.tags, [
    ['key', 'value'],
    ['k'.repeat(32), 'v'.repeat(200)],
  ]);
  const many = Object.keys(payload).filter((name) => name.startsWith('many-'));
  assert.deepEqual([payload.unknown, many.length], [undefined, 16]);
  const long = JSON.parse(
    read({ logentry: { message: 'm'.repeat(9000), formatted: 'f'.repeat(9000), params: [1] } }).payload,
  ).logentry;
  assert.deepEqual([long.message.length, long.formatted.length, long.params], [8192, 8192, [1]]);
  const kept = payload.threads.values[0].stacktrace.frames;
  assert.deepEqual([kept.length, kept[0].function, kept.at(-2).function], [50, 'f0', 'f119']);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});
