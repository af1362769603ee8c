import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bridge } from '../../../ci_configuration/index.ts';
import { type Ancestor, limitOf, startedBy, stateOfWaiting } from './rules.ts';

const bridge = {
  ...{ type: 'bridge', name: 'go', forwards_yaml_variables: true, forwards_pipeline_variables: false, inputs: {} },
} as unknown as Bridge;
const values = new Map(
  Object.entries({ KIND: 'apple', PATH: 'a/b', COST: '5 $KIND' }).map(([key, value]) => [
    key,
    { key, value, raw: true },
  ]),
);

test('what a bridge starts has the values of variables in it', () => {
  const child = startedBy(
    {
      ...bridge,
      inputs: { kind: '$KIND', count: 2 },
      downstream: {
        type: 'child',
        include: [
          '$KIND.yml',
          { local: '%KIND%.yml', inputs: { count: 3 }, rules: [{ if: '$KIND' }] },
          'https://a.example/$KIND.yml',
        ],
      },
    },
    [],
    values,
  )!;
  assert.equal(child.target.type, 'child');
  assert.deepEqual(JSON.parse((child.target as { configuration: string }).configuration), {
    include: [
      { local: 'apple.yml', inputs: { kind: 'apple', count: 2 } },
      { local: 'apple.yml', inputs: { kind: 'apple', count: 3 }, rules: [{ if: '$KIND' }] },
      { remote: 'https://a.example/apple.yml', inputs: { kind: 'apple', count: 2 } },
    ],
  });
  const own = [
    { key: 'FRUIT', value: '$KIND pie' },
    { key: 'TEXT', value: '$KIND', raw: true },
    { key: 'KIND', value: 'pear' },
  ];
  assert.deepEqual(
    startedBy({ ...bridge, downstream: { type: 'project', project: ' $PATH ', branch: '$KIND' } }, own, values),
    {
      target: { type: 'project', project: 'a/b', branch: 'apple' },
      inputs: {},
      variables: [
        { key: 'FRUIT', value: 'pear pie', raw: true },
        { key: 'TEXT', value: '$KIND', raw: true },
        { key: 'KIND', value: 'pear', raw: true },
      ],
    },
  );
  assert.deepEqual(startedBy({ ...bridge, upstream: '$PATH', forwards_yaml_variables: false }, own, values), {
    ...{ target: { type: 'upstream', project: 'a/b' }, inputs: {}, variables: [] },
  });
});

test('values are text in the configuration of a child, and variables in a circle start nothing', () => {
  const started = startedBy({ ...bridge, downstream: { type: 'child', include: ['$COST.yml'] } }, [], values)!;
  assert.deepEqual(started.target, {
    ...{ type: 'child', configuration: JSON.stringify({ include: [{ local: '5 $$KIND.yml' }] }) },
  });
  const circle = [
    { key: 'A', value: '$B' },
    { key: 'B', value: '$A' },
  ];
  assert.equal(startedBy({ ...bridge, downstream: { type: 'project', project: 'a/b' } }, circle, values), undefined);
});

test('a bridge that waits runs until its pipeline has ended, and ends as it does', () => {
  for (const open of ['created', 'pending', 'running', 'manual', 'scheduled', 'canceling'] as const)
    assert.deepEqual(stateOfWaiting(open), { status: 'running', reason: null });
  for (const end of ['success', 'canceled', 'skipped'] as const)
    assert.deepEqual(stateOfWaiting(end), { status: end, reason: null });
  assert.deepEqual(stateOfWaiting('failed'), { status: 'failed', reason: 'unknown_failure' });
  assert.deepEqual(stateOfWaiting(null), { status: 'failed', reason: 'downstream_bridge_project_not_found' });
});

test('children have two parents at most, and a project starts itself twice at most', () => {
  const above = (...sources: string[]): Ancestor[] =>
    sources.map((source, id) => ({ id, project_id: 1, ref: 'main', source }));
  assert.equal(limitOf(above('push'), true), undefined);
  assert.equal(limitOf(above('parent_pipeline', 'push'), true), undefined);
  assert.equal(
    limitOf(above('parent_pipeline', 'parent_pipeline', 'push'), true),
    'reached_max_descendant_pipelines_depth',
  );
  assert.equal(limitOf(above('parent_pipeline', 'parent_pipeline', 'parent_pipeline', 'push'), false), undefined);
  assert.equal(limitOf(above('pipeline', 'pipeline', 'push'), false), undefined);
  assert.equal(limitOf(above('pipeline', 'pipeline', 'pipeline', 'push'), false), 'pipeline_loop_detected');
});
