/** Calendar days in UTC, as texts of the form `YYYY-MM-DD`, which sort chronologically. */
const day_ms = 86_400_000;
const startOf_ms = (day: string) => Date.parse(`${day}T00:00:00Z`);

/** The day of a moment. */
export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

export const today = (): string => dayOf(new Date());

/** The reasons why a day is refused as the end of something that ends when the day begins; empty if it is accepted. A day that has begun is refused. Null means no end. */
export function endReasons(day: string | null): string[] {
  if (day === null || day > today()) return [];
  return [day === today() ? 'must be after today' : 'cannot be a date in the past'];
}

const isMidnight = (moment: string) => moment.endsWith('T00:00:00.000Z');

/** The same for a moment, in ISO 8601 with milliseconds in UTC. A day without a time means its beginning. */
export function endReasonsOf(moment: string | null): string[] {
  if (moment === null || moment > new Date().toISOString()) return [];
  return isMidnight(moment) ? endReasons(moment.slice(0, 10)) : ['must be in the future'];
}

/** The reasons why a day, or the day of a moment, is refused as a last day; empty if it is accepted. */
export const lastDayReasons = (time: string | null): string[] =>
  time === null || time.slice(0, 10) >= today() ? [] : ['cannot be a date in the past'];

/** The first day that begins at or after a moment in the same format. */
export const dayFrom = (moment: string): string => daysAfter(moment.slice(0, 10), isMidnight(moment) ? 0 : 1);

/** The day that lies a number of days after another; before it when the number is negative. */
export const daysAfter = (day: string, days: number): string => dayOf(new Date(startOf_ms(day) + days * day_ms));

/** How many days lie between two; negative when `to` comes first. */
export const daysBetween = (from: string, to: string): number => (startOf_ms(to) - startOf_ms(from)) / day_ms;

/** The day that lies a number of days after today. */
export const daysFromNow = (days: number): string => daysAfter(today(), days);
