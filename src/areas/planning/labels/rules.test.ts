import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colorFrom, textColorOn } from './color_rules.ts';
import { scopeOf, withoutRivals } from './rules.ts';

test('the key of a scoped label is the text before its last two colons', () => {
  assert.equal(scopeOf('priority::high'), 'priority');
  assert.equal(scopeOf('a::b::c'), 'a::b');
  for (const title of ['bug', '::high', 'priority::', 'a:b']) assert.equal(scopeOf(title), undefined, title);
});

test('of several labels with one key the last one remains', () => {
  const titles = (...given: string[]) => withoutRivals(given.map((title) => ({ title }))).map(({ title }) => title);
  assert.deepEqual(titles('p::1', 'bug', 'p::2', 'q::1'), ['bug', 'p::2', 'q::1']);
  assert.deepEqual(titles('a::b::1', 'a::b', 'a::b::2'), ['a::b', 'a::b::2']);
});

test('a color is given in digits or by name', () => {
  assert.equal(colorFrom('#5843AD'), '#5843AD');
  assert.equal(colorFrom(' #fA0 '), '#ffAA00');
  assert.equal(colorFrom('RebeccaPurple'), '#663399');
  for (const text of ['', '#12', '5843AD', '#5843AG', 'constructor', 'fruit'])
    assert.equal(colorFrom(text), undefined, text);
});

test('text is dark on light colors', () => {
  assert.equal(textColorOn('#FFFFFF'), '#1F1E24');
  assert.equal(textColorOn('#f0ad4e'), '#FFFFFF');
});
