import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAbout } from './wildcards.ts';

test('a star matches any characters, including slashes, and none at all', () => {
  const cases: [string, string, boolean][] = [
    ['main', 'main', true],
    ['main', 'Main', false],
    ['main', 'main2', false],
    ['*', 'anything/at/all', true],
    ['release/*', 'release/1/2', true],
    ['release/*', 'release/', true],
    ['release/*', 'release', false],
    ['*-stable', '1-2-stable', true],
    ['*-stable', '-stables', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'axxbxxc', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['a.c', 'abc', false],
  ];
  for (const [name, branch, expected] of cases) assert.equal(isAbout(name, branch), expected, `${name} ${branch}`);
  assert.equal(isAbout(`${'*a'.repeat(200)}*b`, 'a'.repeat(5000)), false);
});
