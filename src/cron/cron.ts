/** Computes when a cron line occurs in a time zone: the occurrence before and the one after an instant. */
import type { Cron } from './parse.ts';
import { lastBeforeChange, zoneOffset } from './zone_offset.ts';

export { type Cron, isCron, parseCron } from './parse.ts';

const DAY_MS = 24 * 3_600_000;

/** Every day that occurs at all does so within 40 years: 29 February on a Sunday, across a century without a leap year. */
const LONGEST_WAIT_MONTHS = 41 * 12;

/** Clocks are moved twice a year at most, so this covers the longest wait; the loop ends for occurrences that always fall in a gap. */
const MOST_CLOCK_CHANGES = 100;

type Direction = 1 | -1;

/**
 * The latest occurrence of a cron line at or before an instant.
 *
 * An occurrence is an instant at which the clocks of the zone show a time that the line names. Hence, when clocks go forward, a time that
 * is skipped does not occur that day; when they go back, a time that is shown twice occurs twice. v4 computes so: its cron library walks
 * through real instants and compares what the clock shows. Cron daemons (and croner) move or drop such runs; for a freeze that would
 * only add a second opinion about what the clock says.
 *
 * @param cron the line, read by parseCron.
 * @param zone an IANA name, as ianaZone returns it.
 * @param instant fractions of a second are cut off, since occurrences are whole seconds.
 * @returns undefined when there is none within the 41 years before.
 * @throws RangeError when there is no such zone, or the instant is an invalid date.
 */
export function previousTime(cron: Cron, zone: string, instant: Date): Date | undefined {
  return occurrence(cron, zone, Math.floor(instant.getTime() / 1000) * 1000, -1);
}

/**
 * The first occurrence of a cron line after an instant, never at it. See previousTime for times when clocks are moved.
 * @param cron the line, read by parseCron.
 * @param zone an IANA name, as ianaZone returns it.
 * @param after the instant.
 * @param except occurrences that this line has as well are passed over.
 * @returns undefined when there is none within the 41 years after.
 * @throws RangeError when there is no such zone, or the instant is an invalid date.
 */
export function nextTime(cron: Cron, zone: string, after: Date, except?: Cron): Date | undefined {
  return occurrence(cron, zone, Math.floor(after.getTime() / 1000) * 1000 + 1000, 1, except);
}

/** The nearest occurrence from an instant (whole seconds, included) on, in the given direction. */
function occurrence(cron: Cron, zone: string, from_ms: number, direction: Direction, except?: Cron): Date | undefined {
  let from = from_ms;
  for (let changes = 0; changes < MOST_CLOCK_CHANGES; changes++) {
    // While the offset is constant, local time runs as evenly as UTC, and the search needs no time zone data.
    const offset = zoneOffset(zone, from);
    const local = localOccurrence(cron, from + offset, direction, except);
    if (local === undefined) return undefined;
    const change = lastBeforeChange(zone, from, local - offset);
    if (change === undefined) return new Date(local - offset);
    from = change + direction * 1000;
  }
  return undefined;
}

/** The same in local time, represented as if it were UTC. */
function localOccurrence(cron: Cron, from_ms: number, direction: Direction, except?: Cron): number | undefined {
  const from = new Date(from_ms);
  const first_day = Math.floor(from_ms / DAY_MS) * DAY_MS;
  for (let count = 0; count <= LONGEST_WAIT_MONTHS; count++) {
    const month = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + direction * count, 1));
    if (!cron.months.includes(month.getUTCMonth() + 1)) continue;
    const length = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 0)).getUTCDate();
    for (let nth = 0; nth < length; nth++) {
      const day = month.getTime() + (direction > 0 ? nth : length - 1 - nth) * DAY_MS;
      if ((day - first_day) * direction < 0 || !isDay(cron, day, length)) continue;
      const bound_s = day === first_day ? (from_ms - first_day) / 1000 : direction > 0 ? 0 : DAY_MS / 1000 - 1;
      const excluded =
        except?.months.includes(month.getUTCMonth() + 1) && isDay(except, day, length) ? except : undefined;
      const time_s = timeOfDay(cron, bound_s, direction, excluded);
      if (time_s !== undefined) return day + time_s * 1000;
    }
  }
  return undefined;
}

/** Whether the line names this day, ignoring its month. When it restricts both kinds of days, either suffices, as in crontab(5). */
function isDay(cron: Cron, day_ms: number, month_length: number): boolean {
  const date = new Date(day_ms);
  const day = date.getUTCDate();
  const days_to_end = month_length - day;
  const by_month_day = cron.month_days?.some((each) => each === day || each === -1 - days_to_end);
  const by_weekday = cron.weekdays?.some(({ weekday, nth }) => {
    if (weekday !== date.getUTCDay()) return false;
    return nth === undefined || nth === Math.ceil(day / 7) || nth === -Math.ceil((days_to_end + 1) / 7);
  });
  if (by_month_day === undefined) return by_weekday ?? true;
  return by_month_day || (by_weekday ?? false);
}

/** The first time of day that the line names from `bound_s` on (seconds after midnight, included), in the given direction. */
function timeOfDay(cron: Cron, bound_s: number, direction: Direction, except?: Cron): number | undefined {
  if (except && isEachTimeIn(cron, except)) return undefined;
  const inDirection = (values: readonly number[]) => (direction > 0 ? values : values.toReversed());
  const seconds = inDirection(cron.seconds);
  const minutes = inDirection(cron.minutes);
  for (const hour of inDirection(cron.hours)) {
    if ((hour * 3600 + (direction > 0 ? 3599 : 0) - bound_s) * direction < 0) continue;
    for (const minute of minutes) {
      for (const second of seconds) {
        const time_s = hour * 3600 + minute * 60 + second;
        if ((time_s - bound_s) * direction < 0) continue;
        if (except?.hours.includes(hour) && except.minutes.includes(minute) && except.seconds.includes(second))
          continue;
        return time_s;
      }
    }
  }
  return undefined;
}

function isEachTimeIn(cron: Cron, other: Cron): boolean {
  const isWithin = (values: readonly number[], others: readonly number[]) =>
    values.every((each) => others.includes(each));
  return (
    isWithin(cron.hours, other.hours) && isWithin(cron.minutes, other.minutes) && isWithin(cron.seconds, other.seconds)
  );
}
