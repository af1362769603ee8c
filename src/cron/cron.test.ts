import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { type Cron, isCron, nextTime, parseCron, previousTime } from './cron.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Los_Angeles',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'America/St_Johns',
];

function cron(text: string): Cron {
  const parsed = parseCron(text);
  assert.ok(parsed, `${text} is a cron line`);
  return parsed;
}

const iso = (time: Date | undefined) => time?.toISOString().replace('.000Z', 'Z');
const next = (text: string, after: string, zone = 'UTC') => iso(nextTime(cron(text), zone, new Date(after)));
const previous = (text: string, instant: string, zone = 'UTC') =>
  iso(previousTime(cron(text), zone, new Date(instant)));

test('a cron line has five fields, or six with the seconds first, and blanks around it are cut', () => {
  assert.deepEqual(cron(' \t0 23 * * fri \n'), cron('0 0 23 * * 5'));
  assert.deepEqual(cron('0\t23  *\t*   fri'), cron('0 0 23 * * 5'));
  assert.deepEqual(cron('15,45 0 23 * * *').seconds, [15, 45]);
});

test('values, ranges, lists, steps and names are parsed', () => {
  const fields = (text: string) => {
    const { minutes, hours, month_days, months, weekdays } = cron(text);
    return { minutes, hours, month_days, months, weekdays: weekdays?.map(({ weekday }) => weekday) };
  };
  const line = fields('10-20/5,50-10/10 22-2 1,15,L FEB,Nov-jan Mon-FRI');
  assert.deepEqual(line.minutes, [0, 10, 15, 20, 50]);
  assert.deepEqual(line.hours, [0, 1, 2, 22, 23]);
  assert.deepEqual(line.month_days, [-1, 1, 15]);
  assert.deepEqual(line.months, [1, 2, 11, 12]);
  assert.deepEqual(line.weekdays, [1, 2, 3, 4, 5]);
  assert.deepEqual(fields('15/30 */8 -7-L */6 5-7').minutes, [15, 45]);
  assert.deepEqual(fields('15/30 */8 -7-L */6 5-7').hours, [0, 8, 16]);
  assert.deepEqual(fields('15/30 */8 -7-L */6 5-7').month_days, [-7, -6, -5, -4, -3, -2, -1]);
  assert.deepEqual(fields('15/30 */8 -7-L */6 5-7').months, [1, 7]);
  assert.deepEqual(fields('15/30 */8 -7-L */6 5-7').weekdays, [5, 6, 0]);
  assert.deepEqual(fields('00 24 25-L 09 7').hours, [0]);
  assert.deepEqual(fields('00 24 25-L 09 7').month_days, [25, 26, 27, 28, 29, 30, 31]);
  assert.deepEqual(fields('00 24 25-L 09 7').weekdays, [0]);
  assert.deepEqual(fields('0 0-24 29-2 * fri-mon').hours.length, 24);
  assert.deepEqual(fields('0 0-24 29-2 * fri-mon').month_days, [1, 2, 29, 30, 31]);
  assert.deepEqual(fields('0 0 */27 * 1/2').month_days, [1, 28]);
  assert.deepEqual(fields('0 0 */27 * 1/2').weekdays, [1]);
  assert.deepEqual(fields('0 0 -1--30 * *').month_days, [-31, -30, -1]);
});

test('invalid cron lines are refused', () => {
  const refused = [
    ...[
      '',
      ' ',
      '*',
      '* * * *',
      '* * * * * * *',
      'every day',
      '@daily',
      '@hourly',
      '@reboot',
      'nonsense here for five fields',
    ],
    ...[
      '0 0 0 * *',
      '60 * * * *',
      '* 25 * * *',
      '* * 32 * *',
      '* * * 13 *',
      '* * * 0 *',
      '* * * * 8',
      '60 * * * * *',
      '-1 * * * *',
    ],
    ...['0 0 * * * UTC', '0 0 * * * Europe/Berlin', '0 0 * * * +02:00', '0 0 0 * * * UTC', 'TZ=UTC 0 0 * * *'],
    ...[
      '? * * * *',
      '0 0 ? * *',
      '0 0 15W * *',
      '0 0 LW * *',
      '0 0 * * 5L',
      '0 0 * * L',
      '0 0 1 1 * 2030',
      '0 0 1 +jan *',
      '0 0 1 * +5',
    ],
    ...[
      '*/0 * * * *',
      '*/ * * * *',
      '*/100 * * * *',
      '*/-2 * * * *',
      '1- * * * *',
      '-5 * * * *',
      '1-2-3 * * * *',
      '*-5 * * * *',
      '1/2/3 * * * *',
    ],
    ...[
      '1,,2 * * * *',
      ',1 * * * *',
      '1, * * * *',
      '005 * * * *',
      '1.5 * * * *',
      '0x1 * * * *',
      '1e1 * * * *',
      '٣ * * * *',
    ],
    ...[
      '0 0 * january *',
      '0 0 * * sunday',
      '0 0 feb * *',
      '0 0 * mon *',
      '0 0 * * jan',
      '0 0 * * 07',
      '0 0 -0 * *',
      '0 0 -3-5 * *',
    ],
    ...[
      '0 0 * * mon#0',
      '0 0 * * mon#6',
      '0 0 * * mon#-6',
      '0 0 * * #2',
      '0 0 * * mon#',
      '0 0 * * mon#2#3',
      '0 0 * * mon-fri#2',
      '0 0 * * *#2',
    ],
    ...['0 0\n* * *', '0 0 * * *\n0 0 * * *', '0;0 * * *'],
  ];
  assert.deepEqual(refused.filter(isCron), []);
});

test('days that no named month has make a line invalid, days that some years lack do not', () => {
  assert.deepEqual(['0 0 30 2 *', '0 0 31 2,4,jun,9,11 *', '0 0 30,31 feb mon'].filter(isCron), []);
  assert.equal(isCron('0 0 29 2 *'), true);
  assert.equal(isCron('0 0 31 1,2 *'), true);
  assert.equal(next('0 0 29 2 *', '2096-03-01T00:00:00Z'), '2104-02-29T00:00:00Z');
  assert.equal(previous('0 0 29 2 *', '2104-02-28T23:59:59Z'), '2096-02-29T00:00:00Z');
});

test('a line that never occurs is said to, in both directions', () => {
  assert.equal(next('0 0 -30 2 *', '2026-01-01T00:00:00Z', 'Europe/Berlin'), undefined);
  assert.equal(previous('* * * * * *', '2026-01-01T00:00:00Z', 'Europe/Berlin'), '2026-01-01T00:00:00Z');
  assert.equal(previous('0 0 -30 2 *', '2026-01-01T00:00:00Z', 'Europe/Berlin'), undefined);
});

test('the rarest day, a fifth Sunday in February, is found across the century', () => {
  assert.equal(next('0 0 * feb sun#5', '2088-03-01T00:00:00Z'), '2128-02-29T00:00:00Z');
  assert.equal(previous('0 0 * feb sun#5', '2128-02-28T00:00:00Z'), '2088-02-29T00:00:00Z');
});

test('the occurrence before includes the instant itself, the one after does not, and fractions of seconds are cut', () => {
  assert.equal(previous('0 12 * * *', '2026-05-05T12:00:00Z'), '2026-05-05T12:00:00Z');
  assert.equal(previous('0 12 * * *', '2026-05-05T12:00:00.900Z'), '2026-05-05T12:00:00Z');
  assert.equal(previous('0 12 * * *', '2026-05-05T11:59:59.999Z'), '2026-05-04T12:00:00Z');
  assert.equal(next('0 12 * * *', '2026-05-05T12:00:00Z'), '2026-05-06T12:00:00Z');
  assert.equal(next('0 12 * * *', '2026-05-05T11:59:59.001Z'), '2026-05-05T12:00:00Z');
  assert.equal(next('*/20 * * * * *', '2026-05-05T11:59:40Z'), '2026-05-05T12:00:00Z');
});

test('days count from the end of the month, and weekdays by their place in it', () => {
  assert.equal(next('0 0 L * *', '2028-02-01T00:00:00Z'), '2028-02-29T00:00:00Z');
  assert.equal(next('0 0 last * *', '2027-02-01T00:00:00Z'), '2027-02-28T00:00:00Z');
  assert.equal(next('0 0 -2 * *', '2026-04-01T00:00:00Z'), '2026-04-29T00:00:00Z');
  assert.equal(previous('0 0 25-L 2 *', '2027-03-10T00:00:00Z'), '2027-02-28T00:00:00Z');
  assert.equal(next('0 0 * * sun#2', '2026-11-01T00:00:00Z'), '2026-11-08T00:00:00Z');
  assert.equal(next('0 0 * * mon#-1', '2026-11-01T00:00:00Z'), '2026-11-30T00:00:00Z');
  assert.equal(next('0 0 * * sun#last,TUE#L', '2026-11-01T00:00:00Z'), '2026-11-24T00:00:00Z');
  assert.equal(next('0 0 * * fri#4,fri#5', '2026-10-24T00:00:00Z'), '2026-10-30T00:00:00Z');
});

test('when days of the month and weekdays are both restricted, either suffices', () => {
  assert.equal(next('59 6 1-7 * 2', '2020-03-15T07:29:00Z'), '2020-03-17T06:59:00Z');
  assert.equal(next('59 6 1-7 * 2', '2020-02-29T07:29:00Z'), '2020-03-01T06:59:00Z');
  assert.equal(next('30 4 1,15 * 5', '2017-01-14T00:00:00Z'), '2017-01-15T04:30:00Z');
  assert.equal(next('0 0 */2 * 1-5', '2022-08-09T00:00:00Z'), '2022-08-10T00:00:00Z');
  // Naming every day of the month restricts nothing, so the weekday alone decides.
  assert.equal(next('0 0 1-31 * mon', '2026-11-21T00:00:00Z'), '2026-11-23T00:00:00Z');
  assert.equal(next('0 0 1-15,16-31 * mon', '2026-11-21T00:00:00Z'), '2026-11-22T00:00:00Z');
});

test('a time that the clocks skip in spring does not occur that day', () => {
  assert.equal(next('30 2 * * *', '2026-03-28T12:00:00Z', 'Europe/Berlin'), '2026-03-30T00:30:00Z');
  assert.equal(previous('30 2 * * *', '2026-03-29T12:00:00Z', 'Europe/Berlin'), '2026-03-28T01:30:00Z');
  assert.equal(next('* * * * *', '2015-03-08T09:59:00Z', 'America/Los_Angeles'), '2015-03-08T10:00:00Z');
  assert.equal(next('15 2 * * *', '2026-10-03T00:00:00Z', 'Australia/Lord_Howe'), '2026-10-04T15:15:00Z');
  // In Santiago the hour after midnight is skipped, and Samoa once skipped a whole Friday.
  assert.equal(next('0 0 * * *', '2026-09-05T12:00:00Z', 'America/Santiago'), '2026-09-07T03:00:00Z');
  assert.equal(next('0 12 * * fri', '2011-12-29T00:00:00Z', 'Pacific/Apia'), '2012-01-05T22:00:00Z');
});

test('a time that the clocks show twice in autumn occurs twice', () => {
  assert.equal(next('30 2 * * *', '2026-10-24T12:00:00Z', 'Europe/Berlin'), '2026-10-25T00:30:00Z');
  assert.equal(next('30 2 * * *', '2026-10-25T00:30:00Z', 'Europe/Berlin'), '2026-10-25T01:30:00Z');
  assert.equal(next('30 2 * * *', '2026-10-25T01:30:00Z', 'Europe/Berlin'), '2026-10-26T01:30:00Z');
  assert.equal(previous('30 2 * * *', '2026-10-25T12:00:00Z', 'Europe/Berlin'), '2026-10-25T01:30:00Z');
  assert.equal(previous('30 2 * * *', '2026-10-25T01:29:59Z', 'Europe/Berlin'), '2026-10-25T00:30:00Z');
  assert.equal(previous('45 1 * * *', '2026-04-04T15:10:00Z', 'Australia/Lord_Howe'), '2026-04-04T14:45:00Z');
});

test('a line that another one covers is passed over, however far', () => {
  const after = new Date('2026-05-05T10:30:00Z');
  assert.equal(iso(nextTime(cron('0 * * * *'), 'UTC', after, cron('0 11-23 * * *'))), '2026-05-06T00:00:00Z');
  assert.equal(iso(nextTime(cron('0 * * * *'), 'UTC', after, cron('0 * * 5-12 *'))), '2027-01-01T00:00:00Z');
  assert.equal(nextTime(cron('0 * * * *'), 'UTC', after, cron('*/30 * * * *')), undefined);
});

/** What the clocks of a zone show, and the line compared with it, field by field. */
function slowMatcher(line: Cron, zone: string): (instant_ms: number) => boolean {
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (instant_ms) => {
    const shown = Object.fromEntries(clock.formatToParts(instant_ms).map(({ type, value }) => [type, value]));
    const [year, month, day] = [Number(shown.year), Number(shown.month), Number(shown.day)];
    if (!line.minutes.includes(Number(shown.minute)) || !line.hours.includes(Number(shown.hour))) return false;
    if (!line.months.includes(month)) return false;
    const same_weekdays: number[] = [];
    const length = new Date(Date.UTC(year, month, 0)).getUTCDate();
    for (let each = 1; each <= length; each++) if ((each - day) % 7 === 0) same_weekdays.push(each);
    const weekday = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(shown.weekday!);
    const by_day = line.month_days?.some((each) => (each > 0 ? each : length + 1 + each) === day);
    const by_weekday = line.weekdays?.some(
      (each) =>
        each.weekday === weekday &&
        (each.nth === undefined || same_weekdays.at(each.nth > 0 ? each.nth - 1 : each.nth) === day),
    );
    return line.month_days && line.weekdays ? Boolean(by_day || by_weekday) : (by_day ?? by_weekday ?? true);
  };
}

const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    number(min, max),
    fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
    fc.tuple(number(min, max), number(min, max)).map(([from, to]) => `${from}-${to}`),
    fc.array(number(min, max), { minLength: 2, maxLength: 4 }).map((list) => list.join(',')),
  );
const weekday = fc.oneof(field(0, 7), fc.constantFrom('mon-fri', 'sun#1', 'sat#-1', 'sun#L', 'wed#5', 'fri-mon'));
const line = fc
  .tuple(
    field(0, 59),
    field(0, 23),
    fc.oneof(field(1, 28), fc.constantFrom('L', '-2', '-7-L', '25-L')),
    fc.oneof(fc.constant('*'), field(1, 12)),
    weekday,
  )
  .map((fields) => fields.join(' '));

/** Midnights (UTC) shortly before the clocks move in some of the zones, and an ordinary one. */
const day = fc.constantFrom(
  ...['2026-03-08', '2026-03-29', '2026-04-04', '2026-10-03', '2026-10-25', '2026-11-01', '2028-02-29', '2027-01-01'],
);
const instant = fc
  .tuple(day, fc.integer({ min: -36 * 3600, max: 36 * 3600 }))
  .map(([date, seconds]) => new Date(Date.parse(`${date}T00:00:00Z`) + seconds * 1000));

test('both directions agree with a walk through every minute of the days around the change of clocks', () => {
  const MINUTE_MS = 60_000;
  const WALK_MINUTES = 2 * 24 * 60;
  fc.assert(
    fc.property(line, fc.constantFrom(...ZONES), instant, (text, zone, from) => {
      const parsed = parseCron(text);
      fc.pre(parsed !== undefined);
      const matches = slowMatcher(parsed, zone);
      const minute = Math.floor(from.getTime() / MINUTE_MS) * MINUTE_MS;
      let before = minute;
      while (before > minute - WALK_MINUTES * MINUTE_MS && !matches(before)) before -= MINUTE_MS;
      let after = minute + MINUTE_MS;
      while (after < minute + WALK_MINUTES * MINUTE_MS && !matches(after)) after += MINUTE_MS;

      const found_before = previousTime(parsed, zone, from);
      const found_after = nextTime(parsed, zone, from);
      if (matches(before)) assert.equal(iso(found_before), iso(new Date(before)));
      else
        assert.ok(found_before === undefined || (found_before.getTime() < before && matches(found_before.getTime())));
      if (matches(after)) assert.equal(iso(found_after), iso(new Date(after)));
      else assert.ok(found_after === undefined || (found_after.getTime() > after && matches(found_after.getTime())));
    }),
    { numRuns: runs(10, 400) },
  );
});
