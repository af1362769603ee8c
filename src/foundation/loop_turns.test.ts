import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnsDuring } from '../../test/support/turns.ts';
import { workFor } from './clients.ts';
import { nextTurn } from './loop_turns.ts';

test('one computation goes on in each turn of the loop, and those of one client take turns with those of others', async () => {
  const order: string[] = [];
  const compute = (source: string) =>
    workFor({ source }, async () => {
      await nextTurn();
      order.push(source);
    });
  const turns = await turnsDuring(() => Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(compute)));
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a']);
  assert.ok(turns >= 6, `${turns} turns`);
});
