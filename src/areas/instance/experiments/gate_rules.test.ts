import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Actor, bucketOf, gatesFrom, isOpen, listOfGates, readableGates, stateOf } from './gate_rules.ts';

const percent = (percentage: number) => gatesFrom([{ key: 'percentage_of_actors', value: String(percentage) }]);
const actors = Array.from({ length: 20_000 }, (_, index): Actor => `User:${index + 1}`);
const isIn = (name: string, percentage: number) => (actor: Actor) => isOpen(percent(percentage), name, actor, [], 1);

test('the share of actors who are in is close to the percentage, at any percentage', () => {
  for (const percentage of [1, 10, 20, 50, 99]) {
    const share = (actors.filter(isIn('orchard', percentage)).length / actors.length) * 100;
    // Five standard deviations of the share of so many fair draws.
    const most = 5 * Math.sqrt((percentage * (100 - percentage)) / actors.length);
    assert.ok(Math.abs(share - percentage) < most, `${share} at ${percentage} %`);
  }
  assert.equal(actors.filter(isIn('orchard', 0)).length, 0);
  assert.equal(actors.filter(isIn('orchard', 100)).length, actors.length);
});

test('an actor who is in at a percentage is in at every higher one', () => {
  let before = new Set<Actor>();
  for (let percentage = 0; percentage <= 100; percentage += 5) {
    const now = new Set(actors.filter(isIn('orchard', percentage)));
    assert.ok(before.isSubsetOf(now), `at ${percentage} %`);
    assert.ok(percentage === 0 || now.size > before.size, `at ${percentage} %`);
    before = now;
  }
});

test('an actor always has the same bucket in a feature, and another one in other features', () => {
  assert.deepEqual(
    ['User:1', 'User:2', 'Project:1'].map((actor) => bucketOf('invitation_mail_preview', actor)),
    [80, 97, 0],
  );
  const inBoth = actors.filter((actor) => isIn('orchard', 50)(actor) && isIn('meadow', 50)(actor)).length;
  assert.ok(Math.abs(inBoth / actors.length - 0.25) < 0.02, `${inBoth}`);
});

test('one matching gate is enough', () => {
  const open = (key: string, value: string, groups: string[] = [], chance = 0.5) =>
    isOpen(gatesFrom([{ key, value }]), 'orchard', 'User:1', groups, chance);
  assert.equal(open('boolean', 'true'), true);
  assert.equal(open('actors', 'User:1'), true);
  assert.equal(open('actors', 'User:11'), false);
  assert.equal(open('actors', 'Project:1'), false);
  assert.equal(open('groups', 'team_members', ['team_members']), true);
  assert.equal(open('groups', 'team_members'), false);
  assert.equal(open('percentage_of_time', '50', [], 0.499), true);
  assert.equal(open('percentage_of_time', '50', [], 0.5), false);
  assert.equal(isOpen(gatesFrom([]), 'orchard', 'User:1', ['team_members'], 0), false);
});

test('the state and the list show the gates that are set', () => {
  const shown = (...rows: [string, string][]) => {
    const gates = gatesFrom(rows.map(([key, value]) => ({ key, value })));
    return [stateOf(gates), listOfGates(gates)];
  };
  const off = { key: 'boolean', value: false };
  assert.deepEqual(shown(), ['off', [off]]);
  assert.deepEqual(shown(['boolean', 'true']), ['on', [{ key: 'boolean', value: true }]]);
  assert.deepEqual(shown(['percentage_of_actors', '100']), ['on', [off, { key: 'percentage_of_actors', value: 100 }]]);
  assert.deepEqual(shown(['percentage_of_time', '100'])[0], 'on');
  assert.deepEqual(shown(['percentage_of_actors', '0']), ['off', [off]]);
  assert.deepEqual(shown(['percentage_of_time', '7']), ['conditional', [off, { key: 'percentage_of_time', value: 7 }]]);
  assert.deepEqual(shown(['groups', 'b'], ['groups', 'a'], ['actors', 'User:5']), [
    'conditional',
    [off, { key: 'actors', value: ['User:5'] }, { key: 'groups', value: ['a', 'b'] }],
  ]);
});

test('a feature with invalid gates is off', () => {
  for (const row of [
    { key: 'percentage_of_actors', value: '101' },
    { key: 'percentage_of_actors', value: '-1' },
    { key: 'percentage_of_time', value: 'half' },
    { key: 'boolean', value: 'yes' },
  ]) {
    assert.throws(() => gatesFrom([row]));
    assert.equal(stateOf(readableGates([row, { key: 'actors', value: 'User:1' }])), 'off');
  }
});
