import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frozenSpans } from '../../deployments/freeze_periods/index.ts';
import { shownSpan, weeksOf } from './calendar_rules.ts';

const period = (freeze_start: string, freeze_end: string, cron_timezone = 'UTC') => ({
  freeze_start,
  freeze_end,
  cron_timezone,
});

const frozenDays = (weeks: ReturnType<typeof weeksOf>) =>
  weeks.flat().flatMap(({ on, frozen }) => (frozen === undefined ? [] : [[on, frozen]]));

// A Wednesday.
const now = new Date('2026-12-02T12:00:00Z');

test('a freeze over weekends is on three days of each of twelve weeks', async () => {
  const span = shownSpan('UTC', now);
  const { spans } = await frozenSpans([period('0 18 * * 5', '0 8 * * 1')], span.from, span.until);
  const weeks = weeksOf(spans, 'UTC', now);
  assert.deepEqual([weeks.length, weeks[0]!.length, weeks[0]![0]!.on], [12, 7, '2026-11-30']);
  assert.deepEqual(weeks[0]!.map(({ is_past }) => is_past).slice(0, 3), [true, true, false]);
  assert.deepEqual(frozenDays(weeks).slice(0, 4), [
    ['2026-12-04', '18:00–24:00'],
    ['2026-12-05', 'all day'],
    ['2026-12-06', 'all day'],
    ['2026-12-07', '00:00–08:00'],
  ]);
});

test('hours are those of the zone, on both sides of a change of its clocks', async () => {
  const before = new Date('2026-03-25T12:00:00Z');
  const span = shownSpan('Europe/Berlin', before);
  const nights = [period('0 20 * * *', '0 22 * * *', 'Europe/Berlin')];
  const { spans } = await frozenSpans(nights, span.from, span.until);
  const found = new Set(frozenDays(weeksOf(spans, 'Europe/Berlin', before)).map(([, hours]) => hours));
  assert.deepEqual([...found], ['20:00–22:00']);
});

test('spans that meet are one, one without an end lasts, and too many are cut off', async () => {
  const until = new Date('2026-12-30T00:00:00Z');
  const meeting = [period('0 8 3 12 *', '0 10 3 12 *'), period('0 9 3 12 *', '0 12 3 12 *')];
  assert.deepEqual((await frozenSpans(meeting, now, until)).spans, [
    { from: new Date('2026-12-03T08:00:00Z'), until: new Date('2026-12-03T12:00:00Z') },
  ]);
  const endless = [period('0 8 3 12 *', '0 0 1 1 *')];
  assert.equal((await frozenSpans(endless, now, until)).spans[0]!.until.getTime(), until.getTime());
  const flicker = await frozenSpans([period('*/2 * * * *', '1-59/2 * * * *')], now, until);
  assert.equal(flicker.is_complete, false);
});
