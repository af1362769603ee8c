import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { nextTime, parseCron } from '../../../cron/cron.ts';
import { ianaZone } from '../../../cron/time_zones.ts';
import { freezeState } from './rules.ts';

const period = (freeze_start: string, freeze_end: string, cron_timezone = 'UTC') => ({
  freeze_start,
  freeze_end,
  cron_timezone,
});

/** The state as `frozen until ...` or `free until ...`, to the second. */
async function state(periods: ReturnType<typeof period>[], instant: string): Promise<string> {
  const { frozen, changes_at } = await freezeState(periods, new Date(instant));
  return `${frozen ? 'frozen' : 'free'} until ${changes_at ? changes_at.toISOString().replace('.000Z', 'Z') : 'ever'}`;
}

test('a project is frozen from the start to the end of a period, the end excluded', async () => {
  const weekends = [period('0 23 * * 5', '0 7 * * 1')];
  assert.equal(await state(weekends, '2026-11-20T22:59:59Z'), 'free until 2026-11-20T23:00:00Z');
  assert.equal(await state(weekends, '2026-11-20T23:00:00Z'), 'frozen until 2026-11-23T07:00:00Z');
  assert.equal(await state(weekends, '2026-11-22T12:00:00Z'), 'frozen until 2026-11-23T07:00:00Z');
  assert.equal(await state(weekends, '2026-11-23T06:59:59.999Z'), 'frozen until 2026-11-23T07:00:00Z');
  assert.equal(await state(weekends, '2026-11-23T07:00:00Z'), 'free until 2026-11-27T23:00:00Z');
});

test('a project without periods is never frozen', async () => {
  assert.equal(await state([], '2026-11-20T22:59:59Z'), 'free until ever');
});

test('each period follows the clocks of its own zone', async () => {
  const night = (zone: string) => [period('0 22 * * *', '0 6 * * *', zone)];
  assert.equal(await state(night('Europe/Berlin'), '2026-07-01T20:00:00Z'), 'frozen until 2026-07-02T04:00:00Z');
  assert.equal(await state(night('Berlin'), '2026-12-01T20:30:00Z'), 'free until 2026-12-01T21:00:00Z');
  assert.equal(await state(night('America/Los_Angeles'), '2026-07-01T05:00:00Z'), 'frozen until 2026-07-01T13:00:00Z');
  assert.equal(
    await state(night('Eastern Time (US & Canada)'), '2026-07-01T05:00:00Z'),
    'frozen until 2026-07-01T10:00:00Z',
  );
  assert.equal(await state(night('Asia/Kolkata'), '2026-07-01T16:29:00Z'), 'free until 2026-07-01T16:30:00Z');
  assert.equal(await state(night('Kathmandu'), '2026-07-01T16:15:00Z'), 'frozen until 2026-07-02T00:15:00Z');
  assert.equal(await state(night('Australia/Lord_Howe'), '2026-07-01T12:00:00Z'), 'frozen until 2026-07-01T19:30:00Z');
});

test('a night in which the clocks change is an hour shorter or longer', async () => {
  const nights = [period('0 22 * * *', '0 6 * * *', 'Europe/Berlin')];
  assert.equal(await state(nights, '2026-03-28T21:00:00Z'), 'frozen until 2026-03-29T04:00:00Z');
  assert.equal(await state(nights, '2026-10-24T20:00:00Z'), 'frozen until 2026-10-25T05:00:00Z');
  const lord_howe = [period('0 22 * * *', '0 6 * * *', 'Australia/Lord_Howe')];
  assert.equal(await state(lord_howe, '2026-10-03T11:30:00Z'), 'frozen until 2026-10-03T19:00:00Z');
});

test('a start that the clocks skip does not freeze that day, and one they show twice freezes twice', async () => {
  const early = [period('30 2 * * *', '45 2 * * *', 'Europe/Berlin')];
  assert.equal(await state(early, '2026-03-28T12:00:00Z'), 'free until 2026-03-30T00:30:00Z');
  assert.equal(await state(early, '2026-10-25T00:30:00Z'), 'frozen until 2026-10-25T00:45:00Z');
  assert.equal(await state(early, '2026-10-25T00:45:00Z'), 'free until 2026-10-25T01:30:00Z');
  assert.equal(await state(early, '2026-10-25T01:45:00Z'), 'free until 2026-10-26T01:30:00Z');
});

test('overlapping and touching periods are one freeze', async () => {
  const periods = [
    period('0 20 24 12 *', '0 8 27 12 *'),
    period('0 0 26 12 *', '0 0 2 1 *'),
    period('0 0 2 1 *', '0 6 2 1 *'),
  ];
  assert.equal(await state(periods, '2026-12-24T21:00:00Z'), 'frozen until 2027-01-02T06:00:00Z');
  assert.equal(await state(periods, '2026-12-01T00:00:00Z'), 'free until 2026-12-24T20:00:00Z');
});

test('two periods that share the day freeze for good, unless a gap opens once a year', async () => {
  const day = period('0 8 * * *', '0 20 * * *', 'Europe/Berlin');
  assert.equal(
    await state([day, period('0 20 * * *', '0 8 * * *', 'Europe/Berlin')], '2026-05-05T12:00:00Z'),
    'frozen until ever',
  );
  const night_without_new_year = period('0 20 * 1-11 *', '0 8 * * *', 'Europe/Berlin');
  assert.equal(await state([day, night_without_new_year], '2026-01-02T12:00:00Z'), 'frozen until 2026-12-01T19:00:00Z');
});

test('a start and an end in the same second do not freeze', async () => {
  assert.equal(await state([period('0 8 * * *', '0 8 * * *')], '2026-05-05T08:00:00Z'), 'free until ever');
  assert.equal(await state([period('0 8 * * *', '0 * * * *')], '2026-05-05T08:30:00Z'), 'free until ever');
  assert.equal(
    await state([period('0 8-10 * * *', '0 9,10,20 * * *')], '2026-05-05T09:30:00Z'),
    'free until 2026-05-06T08:00:00Z',
  );
});

test('a period whose end never comes stays frozen, one whose start never comes is not', async () => {
  assert.equal(await state([period('0 8 * * *', '0 0 -30 2 *')], '2026-05-05T08:30:00Z'), 'frozen until ever');
  assert.equal(await state([period('0 0 -30 2 *', '0 8 * * *')], '2026-05-05T08:30:00Z'), 'free until ever');
});

test('a period that can no longer be read freezes nothing, and the others count', async () => {
  const unreadable = [
    period('* * * * *', '0 0 1 1 *', 'Mars/Olympus'),
    period('@daily', '0 0 1 1 *'),
    period('* * * * *', 'never'),
  ];
  assert.equal(await state(unreadable, '2026-05-05T08:30:00Z'), 'free until ever');
  assert.equal(
    await state([...unreadable, period('0 8 * * *', '0 9 * * *')], '2026-05-05T08:30:00Z'),
    'frozen until 2026-05-05T09:00:00Z',
  );
});

const minute = fc.constantFrom('0', '30', '*/20', '15,45');
const hour = fc.oneof(fc.constantFrom('*', '22-2', '*/6'), fc.integer({ min: 0, max: 23 }).map(String));
const weekday = fc.constantFrom('*', '*', '*', '0', 'mon-fri', 'sat,sun');
const line = fc.tuple(minute, hour, weekday).map((fields) => `${fields[0]} ${fields[1]} * * ${fields[2]}`);
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'Pacific Time (US & Canada)',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
);
const anyPeriod = fc.tuple(line, line, zone).map((fields) => period(...fields));
const midnight = fc.constantFrom(
  '2026-03-07',
  '2026-03-28',
  '2026-04-03',
  '2026-07-15',
  '2026-10-03',
  '2026-10-24',
  '2026-10-31',
);

test('the state agrees with one computed minute by minute over five days, and changes at the announced times', async () => {
  const MINUTE_MS = 60_000;
  const MINUTES = 5 * 24 * 60;
  /** The minutes of the walk at which a line occurs; that single occurrences are right is tested in cron.test.ts. */
  const occurrences = (text: string, zone_name: string, from: number) => {
    const times = new Set<number>();
    let time: Date | undefined = new Date(from - 1000);
    while (time && times.size < MINUTES) {
      time = nextTime(parseCron(text)!, ianaZone(zone_name)!, time);
      if (!time || time.getTime() > from + MINUTES * MINUTE_MS) break;
      times.add(time.getTime());
    }
    return times;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(anyPeriod, { minLength: 1, maxLength: 3 }), midnight, async (periods, date) => {
      const from = Date.parse(`${date}T00:00:00Z`) - 24 * 60 * MINUTE_MS;
      const walks = await Promise.all(
        periods.map(async (each) => ({
          frozen: (await freezeState([each], new Date(from - 1000))).frozen,
          starts: occurrences(each.freeze_start, each.cron_timezone, from),
          ends: occurrences(each.freeze_end, each.cron_timezone, from),
        })),
      );
      const states: boolean[] = [];
      for (let time = from; time < from + MINUTES * MINUTE_MS; time += MINUTE_MS) {
        for (const walk of walks) {
          if (walk.ends.has(time)) walk.frozen = false;
          else if (walk.starts.has(time)) walk.frozen = true;
        }
        states.push(walks.some((walk) => walk.frozen));
      }
      for (let place = 0; place < MINUTES; place += 601) {
        const { frozen, changes_at } = await freezeState(periods, new Date(from + place * MINUTE_MS));
        assert.equal(frozen, states[place]);
        const turn = states.indexOf(!frozen, place);
        if (turn >= 0) assert.equal(changes_at?.getTime(), from + turn * MINUTE_MS);
        else assert.ok(changes_at === null || changes_at.getTime() >= from + MINUTES * MINUTE_MS);
      }
    }),
    { numRuns: runs(6, 200) },
  );
});
