// Runs in a process of its own: it changes the time zone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysNamed } from './due_date_rules.ts';

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
    assert.deepEqual(daysNamed('next_month_and_previous_two_weeks', sunday), {
      from: '2023-12-17',
      until: '2024-01-31',
    });
  });
});

test("the days are those of UTC, whatever the server's time zone", () => {
  const evening = new Date('2024-03-30T23:30:00Z');
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Los_Angeles'])
    inZone(zone, () => {
      assert.deepEqual(daysNamed('today', evening), { from: '2024-03-30', until: '2024-03-30' }, zone);
      assert.deepEqual(daysNamed('overdue', evening), { until: '2024-03-29' }, zone);
      assert.deepEqual(daysNamed('week', evening), { from: '2024-03-25', until: '2024-03-31' }, zone);
      assert.deepEqual(
        daysNamed('month', new Date('2024-03-31T23:30:00Z')),
        { from: '2024-03-01', until: '2024-03-31' },
        zone,
      );
    });
});
