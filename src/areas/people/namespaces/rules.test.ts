import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMoreVisible, lesserVisibility } from '../../../access/index.ts';
import { groupNameReasons, groupPathReasons, pathReasons, projectNameReasons } from './rules.ts';

test('names have letters of every script, digits and emoji; other characters differ between groups and projects', () => {
  for (const name of ['Ops', 'Größe 1', '日本', '_x', '🚀 rockets', '👩‍💻', '🇩🇪', '1️⃣ first', 'a.b-c', 'हिन्दी']) {
    assert.deepEqual(groupNameReasons(name), [], name);
    assert.deepEqual(projectNameReasons(name), [], name);
  }
  assert.deepEqual(groupNameReasons('Ops (west)'), []);
  assert.equal(projectNameReasons('Ops (west)').length, 1);
  assert.deepEqual(projectNameReasons('c++'), []);
  assert.equal(groupNameReasons('c++').length, 1);
  for (const name of ['-x', ' x', '.x', 'a/b', 'a<b', 'a\nb', 'a\tb', 'a&b', '(x)', '+x']) {
    assert.match(
      groupNameReasons(name)[0]!,
      /^can contain only letters, digits, emoji, '_', '\.', dash, space, parenthesis/,
      name,
    );
    assert.match(
      projectNameReasons(name)[0]!,
      /^can contain only letters, digits, emoji, '_', '\.', '\+', dashes, or spaces/,
      name,
    );
  }
});

test('names and paths are neither blank nor longer than 255 characters', () => {
  assert.deepEqual(groupNameReasons(' '), ["can't be blank"]);
  assert.deepEqual(projectNameReasons(''), ["can't be blank"]);
  assert.deepEqual(pathReasons('', true), ["can't be blank"]);
  assert.deepEqual(groupNameReasons('x'.repeat(255)), []);
  assert.deepEqual(groupNameReasons('x'.repeat(256)), ['is too long (maximum is 255 characters)']);
  assert.deepEqual(pathReasons('x'.repeat(256), false), ['is too long (maximum is 255 characters)']);
  assert.deepEqual(pathReasons('x', false), []);
  assert.deepEqual(groupPathReasons('x', false), ['is too short (minimum is 2 characters)']);
});

test('paths are words joined by single characters, and words that URLs need are reserved', () => {
  for (const path of ['a', 'a-b', 'a.b_c', 'A1', 'git']) assert.deepEqual(pathReasons(path, false), [], path);
  for (const path of ['-a', 'a-', '.a', 'a.', '_a', 'a_', 'a--b', 'a/b', 'ä', 'a b', 'x.git', 'x.ATOM'])
    assert.match(pathReasons(path, false)[0]!, /^can only include non-accented letters/, path);
  assert.deepEqual(pathReasons('Admin', true), ['Admin is a reserved name']);
  assert.deepEqual(pathReasons('admin', false), []);
  assert.deepEqual(pathReasons('tree', false), ['tree is a reserved name']);
  assert.deepEqual(pathReasons('tree', true), []);
});

test('lesserVisibility returns the narrower visibility', () => {
  assert.equal(lesserVisibility('public', 'internal'), 'internal');
  assert.equal(lesserVisibility('private', 'public'), 'private');
  assert.equal(isMoreVisible('internal', 'internal'), false);
  assert.equal(isMoreVisible('public', 'private'), true);
});
