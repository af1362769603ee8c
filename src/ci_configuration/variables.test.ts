import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inForce, type ScopedVariable, type Sources, strongestFirst, variablesFor } from './variables.ts';

test('of variables with one key, the one from the strongest source counts', () => {
  for (const [index, strong] of strongestFirst.entries())
    for (const weak of strongestFirst.slice(index + 1)) {
      const sources: Sources = { [weak]: [{ key: 'A', value: weak }], [strong]: [{ key: 'A', value: strong }] };
      assert.equal(inForce(sources).get('A')?.value, strong, `${strong} over ${weak}`);
    }
  const groups = [
    { key: 'A', value: 'near' },
    { key: 'A', value: 'far' },
  ];
  assert.equal(inForce({ groups }).get('A')?.value, 'near');
});

test('the most specific scope counts, and protected variables are for protected refs', () => {
  const variable = (environment_scope: string, more: Partial<ScopedVariable> = {}): ScopedVariable => ({
    key: 'A',
    value: environment_scope,
    environment_scope,
    protected: false,
    ...more,
  });
  const owned = ['*', 'review/*', 'review/a*', '*/app', 'prod'].map((scope) => variable(scope));
  const scopeFor = (environment: string | undefined, all = owned, is_protected = false) =>
    variablesFor(all, { environment, is_protected })[0]?.value;
  for (const [environment, expected] of [
    [undefined, '*'],
    ['staging', '*'],
    ['review/x', 'review/*'],
    ['review/abc', 'review/a*'],
    ['x/app', '*/app'],
    ['prod', 'prod'],
    ['production', '*'],
    ['app', '*'],
  ] as const)
    assert.equal(scopeFor(environment), expected, environment);
  assert.equal(scopeFor('abcbc', [variable('a*b*c')]), 'a*b*c');
  assert.equal(scopeFor('ab', [variable('ab*b')]), undefined);
  assert.equal(scopeFor('a', [variable('a*a')]), undefined);
  const secret = [variable('*', { protected: true })];
  assert.equal(scopeFor(undefined, secret), undefined);
  assert.equal(scopeFor(undefined, secret, true), '*');
});
