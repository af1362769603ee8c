import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasLongLine, hasMoreLines, lineEnd_chars, linesOnPage } from './line_rules.ts';

test('a text is shown in pages of lines', () => {
  assert.deepEqual(linesOnPage('a\nb\nc\n', 1, 2), { lines: ['a', 'b'], first: 1, has_more: true });
  assert.deepEqual(linesOnPage('a\nb\nc\n', 2, 2), { lines: ['c'], first: 3, has_more: false });
  assert.deepEqual(linesOnPage('a\nb\nc', 2, 2), { lines: ['c'], first: 3, has_more: false });
  assert.deepEqual(linesOnPage('a\n\n\n', 1, 2), { lines: ['a', ''], first: 1, has_more: true });
  assert.deepEqual(linesOnPage('a\n\n\n', 2, 2), { lines: [''], first: 3, has_more: false });
  assert.deepEqual(linesOnPage('a', 9, 2), { lines: [], first: 17, has_more: false });
  assert.deepEqual(linesOnPage('', 1, 2), { lines: [], first: 1, has_more: false });
});

test('how many lines there are is found without taking them apart', () => {
  assert.equal(hasMoreLines('a\nb\n', 1), true);
  assert.equal(hasMoreLines('a\nb\n', 2), false);
  assert.equal(hasMoreLines('a\nb', 1), true);
  assert.equal(hasMoreLines('', 0), false);
});

test('a line that is cut off is found wherever it is', () => {
  const most = 'x'.repeat(lineEnd_chars);
  for (const text of ['', most, `${most}\n${most}\n`, `a\n${most}\n${'b\n'.repeat(lineEnd_chars)}${most}`])
    assert.equal(hasLongLine(text), false);
  for (const text of [`${most}x`, `a\n${most}x\n`, `${most}\n${most}x`, `${'b\n'.repeat(lineEnd_chars)}${most}x\nc`])
    assert.equal(hasLongLine(text), true);
});
