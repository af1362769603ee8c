import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closingReferences } from './rules.ts';

test('a text closes the issues that follow a closing word, and no others', async () => {
  for (const [text, closed] of [
    ['Closes #1', '1'],
    ['closes: issues #1, #2 and group/project#3, see #4', '1 2 group/project 3'],
    ['Fix #1\nResolved #2; implementing issue #3', '1 2 3'],
    ['closed #1, and #2 #3', '1 2 3'],
    ['Fixes the bug of #1, encloses #2, closes  `#3`', ''],
    ['#1 closes #2', '2'],
  ] as const) {
    const found = await closingReferences(text);
    assert.equal(
      found.map(({ path, value }) => (path === undefined ? value : `${path} ${value}`)).join(' '),
      closed,
      text,
    );
  }
});
