import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextReminder } from './rules.ts';

/** All days on which somebody is reminded who never answers. */
function reminders(expires_at: string | null): string[] {
  const days: string[] = [];
  for (let after = '2030-01-01'; ; ) {
    const next = nextReminder({ created_on: '2030-01-01', expires_at }, days.length, after);
    if (next === null) return days;
    days.push(next);
    after = next;
  }
}

test('reminders come two, five and ten days after the invitation', () => {
  assert.deepEqual(reminders(null), ['2030-01-03', '2030-01-06', '2030-01-11']);
  assert.deepEqual(reminders('2030-06-01'), ['2030-01-03', '2030-01-06', '2030-01-11']);
  assert.deepEqual(reminders('2030-01-15'), ['2030-01-03', '2030-01-06', '2030-01-11']);
});

test('an invitation that ends within two weeks has them closer together, and none when it ends', () => {
  assert.deepEqual(reminders('2030-01-08'), ['2030-01-02', '2030-01-04', '2030-01-06']);
  assert.deepEqual(reminders('2030-01-04'), ['2030-01-02', '2030-01-03']);
  assert.deepEqual(reminders('2030-01-03'), ['2030-01-02']);
  assert.deepEqual(reminders('2030-01-02'), []);
});

test('a server that was off reminds once and goes on from there', () => {
  const invitation = { created_on: '2030-01-01', expires_at: null };
  assert.equal(nextReminder(invitation, 1, '2030-01-08'), '2030-01-11');
  assert.equal(nextReminder(invitation, 1, '2030-02-01'), null);
  assert.equal(nextReminder(invitation, 3, '2030-01-02'), null);
});
