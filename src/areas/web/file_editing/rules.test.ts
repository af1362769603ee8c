import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeBranch, nameOf, pathIn, withLineEndsOf } from './rules.ts';

test('a text keeps the line ends of its file', () => {
  assert.equal(withLineEndsOf(undefined, 'a\r\nb\r\n'), 'a\nb\n');
  assert.equal(withLineEndsOf('one\ntwo\r\n', 'a\r\nb'), 'a\nb');
  assert.equal(withLineEndsOf('one\r\ntwo\n', 'a\r\nb\nc'), 'a\r\nb\r\nc');
});

test('the offered branch is free', () => {
  assert.equal(freeBranch('ada', []), 'ada-patch-1');
  assert.equal(freeBranch('ada', ['ada-patch-1', 'ada-patch-3']), 'ada-patch-2');
});

test('paths have a folder, or none', () => {
  assert.deepEqual([pathIn('', 'a'), pathIn('b/c', 'a'), nameOf('b/a'), nameOf('a')], ['a', 'b/c/a', 'a', 'a']);
});
