import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockIn } from './rules.ts';

test('a lock is an object with an ID that can be stored', () => {
  const of = (value: unknown) => lockIn(Buffer.from(JSON.stringify(value)));
  assert.deepEqual(of({ ID: 'a', Who: 'me' }), { id: 'a', info: '{"ID":"a","Who":"me"}' });
  const long = 'x'.repeat(256);
  for (const value of [
    null,
    [],
    'a',
    {},
    { ID: 1 },
    { ID: '' },
    { ID: long },
    { ID: 'a\0' },
    { ID: 'a', Who: '\ud800' },
  ])
    assert.equal(of(value), undefined, JSON.stringify(value));
});

test('a lock with members inside members, or with texts that cannot be stored, is none', () => {
  const nested = `{"ID":"a","Info":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
  for (const text of [nested, '{"ID":"a","Who":"\\u0000"}', '{"ID":"a","\\ud800":1}'])
    assert.equal(lockIn(Buffer.from(text)), undefined);
  assert.equal(lockIn(Buffer.from('{"ID":"a","Who":"\\\\u0000"}'))?.id, 'a');
});
