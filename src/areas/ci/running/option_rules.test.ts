import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions } from './option_rules.ts';

test('options skip pipelines, and give them variables and inputs', () => {
  const options = [
    'ci.skip',
    'ci.variable="DEPTH=a=b"',
    'ci.variable=EMPTY=',
    'ci.input=size=3',
    'ci.input=name=x',
    'other',
  ];
  assert.deepEqual(readOptions(options), {
    skips: true,
    variables: [
      { key: 'DEPTH', value: 'a=b', variable_type: 'env_var' },
      { key: 'EMPTY', value: '', variable_type: 'env_var' },
    ],
    inputs: { size: 3, name: 'x' },
    ignored: [],
  });
});

test('options that have no effect are named', () => {
  const wrong = [
    'ci.unknown',
    'ci.variable=DEPTH',
    'ci.variable=A-B=1',
    'ci.input=',
    `ci.variable=A=${'x'.repeat(100_001)}`,
  ];
  const { variables, inputs, ignored } = readOptions(wrong);
  assert.deepEqual([variables, inputs, ignored.length], [[], {}, wrong.length]);
  assert.equal(ignored[0], 'The push option ci.unknown has no effect.');
  assert.equal(readOptions(['ci.variable=A=1', 'ci.variable=A=2']).ignored.length, 1);
});
