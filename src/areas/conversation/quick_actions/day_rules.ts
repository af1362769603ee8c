/** Parsing dates in natural language. */
import { casual } from 'chrono-node/en';

const written = /^(\d{4})-(\d{2})-(\d{2})$/;

const dayText = (year: number, month: number, day: number): string =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

/** Whether a date exists. */
function calendarDay(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  const isThere = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1 && year <= 9999;
  return isThere ? dayText(year, month, day) : undefined;
}

/** `YYYY-MM-DD`, if the date exists. */
export function exactDay(text: string): string | undefined {
  const [, year, month, day] = written.exec(text) ?? [];
  return year === undefined ? undefined : calendarDay(Number(year), Number(month), Number(day));
}

const maximumPhrase = 100;

/**
 * Parses a date in natural language: `2031-01-02`, `tomorrow`, `in 3 days`, `next monday`, `January 31`. Without a year
 * it is the next such date.
 * @param now the reference time, in the server's time zone
 * @returns `YYYY-MM-DD`; undefined unless the whole text is a date
 */
export function dayMeant(phrase: string, now: Date): string | undefined {
  if (written.test(phrase)) return exactDay(phrase);
  if (phrase.length > maximumPhrase) return undefined;
  const said = phrase.replace(/^(?:on|by)\s+/i, '');
  const [result, ...more] = casual.parse(said, now, { forwardDate: true });
  if (!result || more.length > 0 || result.end || result.text.length !== said.length) return undefined;
  const { start } = result;
  if (start.isCertain('hour')) return undefined;
  const [year, month, day] = [start.get('year'), start.get('month'), start.get('day')];
  return year === null || month === null || day === null ? undefined : calendarDay(year, month, day);
}
