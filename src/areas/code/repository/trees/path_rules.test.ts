import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathMatches } from './path_rules.ts';

function bestOf(search: string, paths: readonly string[], most = 10): string[] {
  const matches = new PathMatches(search, most);
  for (const path of paths) matches.add(path);
  return matches.best();
}

const paths = ['docs/pick.md', 'src/picker/index.ts', 'src/pick.ts', 'src/unpick.ts', 'test/pick.test.ts'];

test('paths with all words are found, names before folders', () => {
  assert.deepEqual(bestOf('', paths), paths);
  assert.deepEqual(bestOf('', paths, 2), paths.slice(0, 2));
  assert.deepEqual(bestOf('PICK', paths), [
    'src/pick.ts',
    'docs/pick.md',
    'test/pick.test.ts',
    'src/unpick.ts',
    'src/picker/index.ts',
  ]);
  assert.deepEqual(bestOf('ts pick src', paths), ['src/pick.ts', 'src/unpick.ts', 'src/picker/index.ts']);
  assert.deepEqual(bestOf('plum', paths), []);
});

test('of many matches the best are kept', () => {
  const many = Array.from({ length: 100 }, (_, index) => `${'x'.repeat(100 - index)}/a.ts`);
  assert.deepEqual(bestOf('a.ts', many, 2), ['x/a.ts', 'xx/a.ts']);
});
