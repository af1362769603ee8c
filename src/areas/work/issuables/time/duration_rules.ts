/** Parsing and printing durations such as `1w 2d 3h` (docs/reference/issues.md). A week is five days of eight hours. */

const minute_s = 60;
const hour_s = 60 * minute_s;
const day_s = 8 * hour_s;
const week_s = 5 * day_s;
const month_s = 4 * week_s;

/** Units and their names, largest first. */
const units: readonly (readonly [seconds: number, names: readonly string[]])[] = [
  [month_s, ['mo', 'mos', 'month', 'months']],
  [week_s, ['w', 'wk', 'wks', 'week', 'weeks']],
  [day_s, ['d', 'day', 'days']],
  [hour_s, ['h', 'hr', 'hrs', 'hour', 'hours']],
  [minute_s, ['m', 'min', 'mins', 'minute', 'minutes']],
  [1, ['s', 'sec', 'secs', 'second', 'seconds']],
];
const secondsOf = new Map(units.flatMap(([seconds, names]) => names.map((name) => [name, seconds] as const)));

/** The largest value that the columns can store. */
const largest_s = 2 ** 31 - 1;

/** A text of a million characters would block the event loop for 70 ms. */
const maximum_chars = 255;

const part = /(\d+(?:\.\d+)?)\s*([a-z]*)/y;

/**
 * Parses a duration.
 * @param text e.g. `3d 5h`, `1.5h`, `-30m`; a number alone means hours
 * @returns whole seconds, negative to subtract; undefined if the duration is invalid, exceeds the column, or has more than 255 characters
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > maximum_chars) return undefined;
  const trimmed = text.trim().toLowerCase();
  const isNegative = trimmed.startsWith('-');
  const spans = trimmed.slice(isNegative ? 1 : 0).trim();
  if (spans === '') return undefined;
  let [at, sum_s] = [0, 0];
  while (at < spans.length) {
    part.lastIndex = at;
    const [match, amount, name] = part.exec(spans) ?? [];
    const unit_s = name === '' ? (match === spans ? hour_s : undefined) : secondsOf.get(name ?? '');
    if (match === undefined || unit_s === undefined) return undefined;
    sum_s += Number(amount) * unit_s;
    at += match.length + (/^[\s,]+/.exec(spans.slice(at + match.length))?.[0].length ?? 0);
  }
  const seconds = Math.round(sum_s);
  if (seconds > largest_s) return undefined;
  return isNegative && seconds !== 0 ? -seconds : seconds;
}

/** The units for printing. Months are omitted, because their length is ambiguous. */
const printed = units.filter(([seconds]) => seconds !== month_s);

/**
 * Prints a duration, e.g. `1w 2d 3h`.
 * @param seconds whole; the sign is not printed
 * @returns null for zero
 */
export function printDuration(seconds: number): string | null {
  let left = Math.abs(seconds);
  const parts: string[] = [];
  for (const [unit_s, [name]] of printed) {
    const count = Math.floor(left / unit_s);
    left -= count * unit_s;
    if (count > 0) parts.push(`${count}${name}`);
  }
  return parts.length > 0 ? parts.join(' ') : null;
}
