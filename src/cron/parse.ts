/**
 * Reads cron lines the way v4 does. Its cron library is the Ruby gem fugit (1.11), so its documented dialect is followed. No JavaScript library reads that dialect:
 * croner, for one, takes `?`, `W`, `@daily` and a year, and knows neither `-2` for the last day but one, nor ranges that wrap around (`22-6`).
 */

/** A day of the week: 0 is Sunday; `nth` is its place in the month, counted from the end when negative, undefined for each of them. */
export type Weekday = { weekday: number; nth?: number };

/** A cron line, taken apart. Numbers ascend; a field that restricts nothing holds every value, or is undefined for the two kinds of days. */
export type Cron = {
  seconds: readonly number[];
  minutes: readonly number[];
  hours: readonly number[];
  /** Days of the month from 1; a negative day counts from the end, -1 is the last. */
  month_days: readonly number[] | undefined;
  months: readonly number[];
  weekdays: readonly Weekday[] | undefined;
};

/**
 * How one field is written. Values from `min` on, `size` of them; numbers beyond (hour 24, weekday 7) begin again at `min`.
 * `open_end` is where `5/15` ends: at the last value, but for weekdays at once, as fugit has it.
 */
type Field = { number: RegExp; min: number; size: number; open_end?: number; names?: readonly string[] };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const SIXTY: Field = { number: /^[0-5]?\d$/, min: 0, size: 60, open_end: 59 };
const HOURS: Field = { number: /^(2[0-4]|[01]?\d)$/, min: 0, size: 24, open_end: 23 };
const MONTH_DAYS: Field = { number: /^-?(3[01]|[12]\d|0?[1-9])$/, min: 1, size: 31, open_end: 31 };
const MONTH: Field = { number: /^(1[0-2]|0?[1-9])$/, min: 1, size: 12, open_end: 12, names: MONTHS };
const WEEKDAY: Field = { number: /^[0-7]$/, min: 0, size: 7, names: WEEKDAYS };

/** February has its leap day here: a day that exists in some years is not impossible. */
const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads a cron line.
 *
 * Fields: minute, hour, day of the month, month, weekday, with seconds before them when there are six; separated by blanks, and blanks
 * around the line are cut. A field is a list of `*`, values and ranges, each with an optional step. A range may wrap (`22-6`, `fri-mon`),
 * hour 24 is hour 0, weekday 7 is Sunday, names of months and weekdays are three letters in any case. Days of the month count from the
 * end when negative, `L` or `last` is the last one. `mon#2` is the second Monday, `mon#-1`, `mon#L` or `mon#last` the last one.
 *
 * @param text the line, such as `0 23 * * fri` or `0 30 22 L jan-mar *`.
 * @returns undefined when it is no cron line: values out of range, nicknames (`@daily`), a time zone in it, or days that no month named
 *   beside them has (`0 0 30 2 *`), which fugit refuses too.
 */
export function parseCron(text: string): Cron | undefined {
  const fields = text.trim().split(/[ \t]+/);
  if (fields.length === 5) fields.unshift('0');
  const [second, minute, hour, month_day, month, weekday] = fields;
  if (fields.length !== 6 || !second || !minute || !hour || !month_day || !month || !weekday) return undefined;
  const seconds = fieldValues(second, SIXTY);
  const minutes = fieldValues(minute, SIXTY);
  const hours = fieldValues(hour, HOURS);
  const days = fieldValues(month_day, MONTH_DAYS);
  const months = fieldValues(month, MONTH);
  const weekdays = weekdayValues(weekday);
  if (!seconds || !minutes || !hours || !days || !months || !weekdays) return undefined;
  if (!months.some((each) => days.some((day) => day <= LONGEST_MONTHS[each - 1]!))) return undefined;
  return {
    seconds,
    minutes,
    hours,
    // fugit takes `*/1` and `1-31` for `*`, so that they leave the choice to the weekday; it does not do so for weekdays.
    month_days: month_day.split(',').some((each) => elementValues(each, MONTH_DAYS)?.length === 31) ? undefined : days,
    months,
    weekdays: weekday.split(',').includes('*') ? undefined : weekdays,
  };
}

/**
 * Tells whether parseCron can read the text.
 *
 * @param text any text.
 */
export function isCron(text: string): boolean {
  return parseCron(text) !== undefined;
}

/** The values of a field, ascending and each once; undefined when it cannot be read. */
function fieldValues(text: string, field: Field): number[] | undefined {
  const values = new Set<number>();
  for (const element of text.split(',')) {
    const some = elementValues(element, field);
    if (!some) return undefined;
    for (const value of some) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function weekdayValues(text: string): Weekday[] | undefined {
  // Keyed, so that repeating a day a thousand times costs no more than naming it once.
  const weekdays = new Map<string, Weekday>();
  for (const element of text.split(',')) {
    const [day, suffix, more] = element.split('#');
    const values = suffix === undefined ? elementValues(element, WEEKDAY) : [value(day!, WEEKDAY)];
    const nth = suffix === undefined ? undefined : ordinal(suffix);
    if (!values || more !== undefined || (suffix !== undefined && nth === undefined)) return undefined;
    for (const weekday of values) {
      if (weekday === undefined) return undefined;
      weekdays.set(`${weekday % 7}#${nth}`, { weekday: weekday % 7, nth });
    }
  }
  return [...weekdays.values()];
}

function ordinal(text: string): number | undefined {
  if (/^l(ast)?$/i.test(text)) return -1;
  return /^-?[1-5]$/.test(text) ? Number(text) : undefined;
}

/** The values of one element of a list, such as `*`, `7` or `22-6/2`, in their order; undefined when it cannot be read. */
function elementValues(text: string, field: Field): number[] | undefined {
  // The first hyphen may be the sign of a day counted from the end.
  const parts = /^(\*|-?[^-/]+)(?:-(-?[^-/]+))?(?:\/(\d\d?))?$/.exec(text);
  if (!parts) return undefined;
  const [, from, to, by] = parts;
  const step = by === undefined ? 1 : Number(by);
  if (step === 0) return undefined;
  if (from === '*') return to === undefined ? range(field.min, field.min + field.size - 1, step, field) : undefined;
  const start = value(from!, field);
  if (start === undefined) return undefined;
  if (to === undefined)
    return by === undefined ? [wrapped(start, field)] : range(start, field.open_end ?? start, step, field);
  const end = value(to, field);
  return end === undefined ? undefined : range(start, end, step, field);
}

/** The number of one value, undefined when it is not valid for the field. */
function value(text: string, field: Field): number | undefined {
  if (field.number.test(text)) return Number(text);
  const name = text.toLowerCase();
  if (field === MONTH_DAYS) return name === 'l' || name === 'last' ? -1 : undefined;
  const index = field.names?.indexOf(name) ?? -1;
  return index < 0 ? undefined : index + field.min;
}

function range(start: number, end: number, step: number, field: Field): number[] | undefined {
  // `25-L` runs to the 31st, where the month has one; `-3-5` would run from the end of a month into the next, which fugit refuses.
  if (start < 0 !== end < 0) return start < 0 ? undefined : range(start, field.min + field.size - 1, step, field);
  const last = end < start ? end + field.size : end;
  const values: number[] = [];
  for (let each = start; each <= last; each += step)
    values.push(start < 0 && each >= 0 ? each - field.size : wrapped(each, field));
  return values;
}

/** Brings a value that ran past its field back to its beginning; days counted from the end stay negative. */
function wrapped(number: number, field: Field): number {
  return number < 0 ? number : ((number - field.min) % field.size) + field.min;
}
