/** Durations such as `3 mins 4 sec`, `2h20min` and `1.5 hours`. */

const minute_s = 60;
const hour_s = 60 * minute_s;
const day_s = 24 * hour_s;

const units: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  second: 1,
  m: minute_s,
  min: minute_s,
  minute: minute_s,
  h: hour_s,
  hr: hour_s,
  hour: hour_s,
  d: day_s,
  day: day_s,
  w: 7 * day_s,
  wk: 7 * day_s,
  week: 7 * day_s,
  mo: 30 * day_s,
  mth: 30 * day_s,
  month: 30 * day_s,
  y: 365.25 * day_s,
  yr: 365.25 * day_s,
  year: 365.25 * day_s,
};

export const week_s = units.week!;
export const month_s = units.month!;

const maximum_chars = 100;
const part = /\s*(?:,|and\b)?\s*(\d+(?:\.\d+)?)\s*([a-z]+)/y;

/**
 * The length of a duration in seconds, rounded. A text of digits is seconds, a month has 30 days and a year 365.25.
 * @returns undefined for other texts
 */
export function durationOf(text: string): number | undefined {
  const written = text.trim().toLowerCase();
  if (written === '' || written.length > maximum_chars) return undefined;
  if (/^\d+$/.test(written)) return Number(written);
  let total_s = 0;
  part.lastIndex = 0;
  for (let at = 0; at < written.length; at = part.lastIndex) {
    const [, amount, name = ''] = part.exec(written) ?? [];
    const unit = Object.hasOwn(units, name) ? units[name] : units[name.replace(/s$/, '')];
    if (amount === undefined || typeof unit !== 'number') return undefined;
    total_s += Number(amount) * unit;
  }
  return Number.isFinite(total_s) ? Math.round(total_s) : undefined;
}
