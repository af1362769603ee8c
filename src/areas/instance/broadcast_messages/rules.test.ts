import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPathOf } from './rules.ts';

test('a pattern means a path in which each star stands for any text', () => {
  const cases: [string | null, string, boolean][] = [
    [null, '/a', true],
    ['', '/a', true],
    ['/a/b', '/a/b', true],
    ['a/b', '/a/b', true],
    ['/a/b', '/a/bc', false],
    ['/a/*', '/a/b/c', true],
    ['/a/*', '/b/a/', false],
    ['*/issues', '/a/-/issues', true],
    ['*/issues', '/a/-/issues/1', false],
    ['/a*/x*y', '/ab/xzy', true],
    ['/a*a', '/a', false],
    ['/a*b*b', '/ab', false],
    ['/a.*', '/ab', false],
  ];
  for (const [pattern, path, isOne] of cases) assert.equal(isPathOf(pattern, path), isOne, `${pattern} ${path}`);
  assert.equal(isPathOf(`/${'*a'.repeat(127)}`, `/${'a'.repeat(100_000)}b`), false);
});
