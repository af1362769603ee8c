import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageStep } from './rules.ts';

test('ages are shown by quarters of the life of a file', () => {
  assert.deepEqual(
    [100, 76, 75, 51, 50, 26, 25, 1, 0].map((at) => ageStep(at, 0, 100)),
    [0, 0, 1, 1, 2, 2, 3, 3, 3],
  );
  assert.equal(ageStep(5, 5, 5), 0);
});
