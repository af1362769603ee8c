import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lanesOf } from './lane_rules.ts';

const commits = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', ...parent_ids] = line.trim().split(/\s+/);
      return { id, parent_ids };
    });

test('a merge has its second parent in a lane of its own, which ends where it began', () => {
  const { placed, lanes } = lanesOf(
    commits(`
      merge main side
      side base
      main base
      base
    `),
    10,
  );
  assert.deepEqual(
    placed.map(({ lane }) => lane),
    [0, 1, 0, 0],
  );
  assert.equal(lanes, 2);
  assert.deepEqual(placed[0]!.lines, [
    { row: 2, lane: 0, via: 0 },
    { row: 1, lane: 1, via: 1 },
  ]);
  assert.deepEqual(placed[1]!.lines, [{ row: 3, lane: 0, via: 1 }]);
});

test('lines to commits that are not in the picture end below it, and lanes are limited', () => {
  const { placed, lanes } = lanesOf(commits('a b c d\nx y'), 2);
  assert.equal(lanes, 2);
  assert.deepEqual(
    placed[0]!.lines.map(({ row }) => row),
    [2, 2, 2],
  );
});
