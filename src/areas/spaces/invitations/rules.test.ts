import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextReminder } from './rules.ts';

const created_at = '2030-01-01T12:00:00.000Z';

/** All days with a reminder for an invitation that is never answered. */
function reminders(expires_on: string | null): string[] {
  const days: string[] = [];
  for (let after = '2030-01-01'; ; ) {
    const next = nextReminder(
      { created_at, expires_at: expires_on && `${expires_on}T00:00:00.000Z` },
      days.length,
      after,
    );
    if (next === null) return days;
    days.push(next);
    after = next;
  }
}

test('reminders are sent two, five and ten days after the invitation', () => {
  assert.deepEqual(reminders(null), ['2030-01-03', '2030-01-06', '2030-01-11']);
  assert.deepEqual(reminders('2030-06-01'), ['2030-01-03', '2030-01-06', '2030-01-11']);
  assert.deepEqual(reminders('2030-01-15'), ['2030-01-03', '2030-01-06', '2030-01-11']);
});

test('an invitation that expires within two weeks has closer reminders, and none on the last day', () => {
  assert.deepEqual(reminders('2030-01-08'), ['2030-01-02', '2030-01-04', '2030-01-06']);
  assert.deepEqual(reminders('2030-01-04'), ['2030-01-02', '2030-01-03']);
  assert.deepEqual(reminders('2030-01-03'), ['2030-01-02']);
  assert.deepEqual(reminders('2030-01-02'), []);
});

test('a server that was down sends one reminder and continues from there', () => {
  const invitation = { created_at, expires_at: null };
  assert.equal(nextReminder(invitation, 1, '2030-01-08'), '2030-01-11');
  assert.equal(nextReminder(invitation, 1, '2030-02-01'), null);
  assert.equal(nextReminder(invitation, 3, '2030-01-02'), null);
});
