import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { globMatcher } from './globs.ts';

const matches = (glob: string, path: string) => globMatcher(glob)(path);

test('globs match as the reference says', () => {
  for (const [glob, yes, no] of [
    ['Dockerfile', ['Dockerfile'], ['dockerfile', 'a/Dockerfile', 'Dockerfile2']],
    ['*.rb', ['a.rb', '.rb', '.a.rb'], ['a/b.rb', 'a.rbx']],
    ['src/*', ['src/a', 'src/.a'], ['src', 'src/a/b', 'a/src/b']],
    ['src/**/*', ['src/a', 'src/a/b/c', 'src/.a/.b'], ['src', 'lib/a']],
    ['src/**', ['src/a', 'src/a/b'], ['src', 'lib']],
    ['**/*.md', ['a.md', 'a/b/c.md'], ['a.mdx']],
    ['**.yml', ['a.yml', 'a/b.yml'], ['a.yaml']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'x/a/b']],
    ['a?c', ['abc', 'a.c'], ['a/c', 'ac', 'abbc']],
    ['*.{rb,js}', ['a.rb', 'a.js'], ['a.ts', 'a.rb,js']],
    ['{a,b{c,d}}/x', ['a/x', 'bc/x', 'bd/x'], ['b/x', 'c/x']],
    ['{**/,}*.c', ['a.c', 'x/y/a.c'], ['a.cc']],
    ['[ab].txt', ['a.txt', 'b.txt'], ['c.txt', 'ab.txt']],
    ['[a-c]x', ['bx'], ['dx', '-x']],
    ['[!a]x', ['bx'], ['ax', '/x']],
    ['[^a]x', ['bx'], ['ax', '/x']],
    ['[]x', ['[]x'], ['x']],
    ['[.]*', ['.git'], ['git']],
    ['{a', ['{a'], ['a']],
    ['a}', ['a}'], ['a']],
    ['a,b', ['a,b'], ['a', 'b']],
    ['\\*', ['*'], ['a', '\\*']],
    ['\\{a,b\\}', ['{a,b}'], ['a']],
    ['a\\', ['a\\'], ['a']],
    ['!a*', ['!ab'], ['b', 'ab']],
    ['a.b+(c)|$^*', ['a.b+(c)|$^', 'a.b+(c)|$^d'], ['axb+(c)|$^']],
    ['lines*', ['lines\nof'], ['lines\n/of']],
    ['', [''], ['a']],
  ] as const) {
    for (const path of yes) assert.ok(matches(glob, path), `${glob} matches ${path}`);
    for (const path of no) assert.ok(!matches(glob, path), `${glob} does not match ${path}`);
  }
});

test('globs that would make others try for ever are answered at once, and one that is too large matches nothing', () => {
  assert.equal(matches(`${'*a'.repeat(300)}b`, 'a'.repeat(4_000)), false);
  assert.equal(matches(`${'**/a/'.repeat(100)}b`, 'a/'.repeat(2_000)), false);
  assert.equal(matches('{a,b}'.repeat(300), 'ab'.repeat(150)), true);
  assert.equal(matches('?'.repeat(11_000), 'a'.repeat(11_000)), false);
  assert.equal(matches(`${'{'.repeat(2_000)}a${'}'.repeat(2_000)}`, 'a'), true);
});

/** A glob of names and stars, and what it means, found by trying everything. */
function naive(glob: string, path: string): boolean {
  if (glob === '') return path === '';
  if (glob.startsWith('**/')) {
    const rest = glob.slice(3);
    return naive(rest, path) || [...path].some((sign, at) => sign === '/' && naive(rest, path.slice(at + 1)));
  }
  if (glob.startsWith('*')) return naive(glob.slice(1), path) || (/^[^/]/.test(path) && naive(glob, path.slice(1)));
  const [first = '', next] = [path[0], glob[0]];
  const fits = next === '?' ? first !== '' && first !== '/' : first === next;
  return fits && naive(glob.slice(1), path.slice(1));
}

test('random globs match what trying everything finds', () => {
  const names = fc.array(fc.constantFrom('a', 'b', '*', '?', '.'), { minLength: 1, maxLength: 4 });
  const part = fc.oneof(
    names.map((signs) => signs.join('').replaceAll(/\*+/g, '*')),
    fc.constant('**'),
  );
  const glob = fc
    .tuple(fc.array(part, { maxLength: 3 }), names)
    .map(([parts, last]) => [...parts, last.join('').replaceAll(/\*+/g, '*')].join('/'));
  const path = fc
    .array(fc.stringMatching(/^[ab.]{1,4}$/), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));
  fc.assert(
    fc.property(glob, path, (pattern, text) => {
      assert.equal(matches(pattern, text), naive(pattern, text), `${pattern} ${text}`);
    }),
    { numRuns: runs(500, 20_000) },
  );
});

test('no random text is too odd for a glob', () => {
  const signs = fc.array(fc.constantFrom(...'ab/*?[]{},\\!^-$.('), { maxLength: 20 }).map((all) => all.join(''));
  fc.assert(
    fc.property(signs, signs, (glob, path) => {
      assert.equal(typeof matches(glob, path), 'boolean');
    }),
    { numRuns: runs(500, 20_000) },
  );
});
