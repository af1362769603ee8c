// Runs in a process of its own: it changes the time zone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayOf, daysNamed } from './due_date_rules.ts';

/** @param zone of the server; restored afterwards */
function inZone(zone: string, check: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    check();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test('each value means its range of days', () => {
  inZone('UTC', () => {
    // A Thursday.
    const now = new Date('2024-02-29T12:00:00Z');
    assert.deepEqual(daysNamed('today', now), { from: '2024-02-29', until: '2024-02-29' });
    assert.deepEqual(daysNamed('tomorrow', now), { from: '2024-03-01', until: '2024-03-01' });
    assert.deepEqual(daysNamed('overdue', now), { until: '2024-02-28' });
    assert.deepEqual(daysNamed('week', now), { from: '2024-02-26', until: '2024-03-03' });
    assert.deepEqual(daysNamed('month', now), { from: '2024-02-01', until: '2024-02-29' });
    assert.deepEqual(daysNamed('next_month_and_previous_two_weeks', now), { from: '2024-02-15', until: '2024-03-31' });
  });
});

test('weeks run from Monday to Sunday, and months work across the turn of the year', () => {
  inZone('UTC', () => {
    const sunday = new Date('2023-12-31T12:00:00Z');
    assert.deepEqual(daysNamed('week', sunday), { from: '2023-12-25', until: '2023-12-31' });
    assert.deepEqual(daysNamed('week', new Date('2024-01-01T12:00:00Z')), { from: '2024-01-01', until: '2024-01-07' });
    assert.deepEqual(daysNamed('month', sunday), { from: '2023-12-01', until: '2023-12-31' });
    assert.deepEqual(daysNamed('next_month_and_previous_two_weeks', sunday), { from: '2023-12-17', until: '2024-01-31' });
  });
});

test("the day is that of the server's time zone, also when daylight saving time changes", () => {
  const evening = new Date('2024-03-30T23:30:00Z');
  inZone('UTC', () => assert.equal(dayOf(evening), '2024-03-30'));
  inZone('Europe/Berlin', () => {
    assert.equal(dayOf(evening), '2024-03-31');
    assert.deepEqual(daysNamed('tomorrow', evening), { from: '2024-04-01', until: '2024-04-01' });
    assert.deepEqual(daysNamed('month', evening), { from: '2024-03-01', until: '2024-03-31' });
  });
  inZone('America/Los_Angeles', () => assert.equal(dayOf(new Date('2024-03-31T05:00:00Z')), '2024-03-30'));
});
