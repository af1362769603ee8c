import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlaceIn, lineFinder } from './mark_rules.ts';

const at = (filename: string) => ({ filename, line: 1, text: null });

test('a file is meant by its path, or by one that ends with it', () => {
  for (const name of ['src/pick.ts', './src/pick.ts', '/app/src/pick.ts', 'webpack:///./src/pick.ts'])
    assert.ok(isPlaceIn(at(name), 'src/pick.ts'), name);
  for (const name of ['pick.ts', 'src/pick.tsx', '/app/lib/src-pick.ts', 'other_src/pick.ts'])
    assert.ok(!isPlaceIn(at(name), 'src/pick.ts'), name);
  // Many folders have a file of such a name.
  assert.ok(!isPlaceIn(at('/app/lib/index.js'), 'index.js'));
  assert.ok(isPlaceIn(at('./index.js'), 'index.js'));
});

test('a place is where its text is now, nearest to where it was', () => {
  const lines = ['}', 'a', '  pick();', '}', 'pick();'].map((text, index) => ({ number: index + 1, text }));
  const place = (line: number, text: string | null) => lineFinder(lines)({ filename: '', line, text });
  assert.deepEqual([place(3, 'pick();'), place(5, 'pick();'), place(9, 'pick();')], [3, 5, 5]);
  assert.deepEqual([place(2, null), place(2, '  '), place(9, null), place(2, 'gone()')], [2, 2, undefined, undefined]);
});
