import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowWatch } from './pace.ts';

test('what moves less than it must in a window is slow, unless it waits for us in between', () => {
  const watch = new SlowWatch({ window_ms: 60_000, least_bytes: 100 });
  let moved = 0;
  const looks = (count: number, bytes: number, isWaiting = true) =>
    Array.from({ length: count }, () => {
      moved += bytes;
      return watch.look(isWaiting, moved);
    }).includes(true);
  assert.deepEqual([looks(6, 10), looks(1, 10)], [false, true]);
  assert.equal(looks(12, 20), false);
  assert.equal(looks(5, 0), false);
  assert.equal(looks(1, 0, false), false);
  assert.deepEqual([looks(6, 0), looks(1, 0)], [false, true]);
});
