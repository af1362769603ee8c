import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectBuilder } from './object_builder.ts';

test('an object has its members in order, whatever they are called', () => {
  const names = ['b', 'a', 'not[label]', 'quo"te', 'back\\slash', '\u2028', 'constructor'];
  const built = objectBuilder(names)(names.map((_, index) => index));
  assert.deepEqual(
    Object.entries(built),
    names.map((name, index) => [name, index]),
  );
});

test('of two members with one name the last one has the value', () => {
  assert.deepEqual(objectBuilder(['a', 'b', 'a'])([1, 2, 3]), { a: 3, b: 2 });
});

test('a name that would set the prototype is refused', () => {
  assert.throws(() => objectBuilder(['__proto__']), /__proto__/);
});
