/** The calendar of freezes: which parts of the days of the next weeks are frozen, as a time zone has them. Pure functions. */
import { zoneOffset } from '../../../cron/index.ts';

const minute_ms = 60_000;
const day_ms = 24 * 60 * minute_ms;

/** How many weeks the calendar shows. */
export const shownWeeks = 12;

/** A time in which a project is frozen. */
export interface FrozenSpan {
  from: Date;
  until: Date;
}

export interface CalendarDay {
  /** ISO 8601. */
  on: string;
  is_past: boolean;
  /** The frozen hours, such as `18:00–24:00`, or `all day`; undefined if there are none. */
  frozen: string | undefined;
}

/** An instant as the clocks of a zone show it, in milliseconds since 1970 there. */
const localTime = (zone: string, instant: Date): number => instant.getTime() + zoneOffset(zone, instant.getTime());

/** The first and the last instant that the calendar shows. */
export function shownSpan(zone: string, now: Date): FrozenSpan {
  return {
    from: now,
    until: new Date(mondayOf(localTime(zone, now)) + shownWeeks * 7 * day_ms - zoneOffset(zone, now.getTime())),
  };
}

/** The start of the week of a local time, which is its Monday. */
function mondayOf(local_ms: number): number {
  const day = Math.floor(local_ms / day_ms);
  // 1 January 1970 was a Thursday.
  return (day - ((day + 3) % 7)) * day_ms;
}

const clock = (ms: number): string => {
  const minutes = Math.round(ms / minute_ms);
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
};

/** The most parts of a day that are told. */
const told = 3;

/** The frozen parts of a day. @param spans in local time */
function frozenIn(start: number, spans: readonly (readonly [from: number, until: number])[]): string | undefined {
  const parts = spans
    .map(([from, until]) => [Math.max(from, start) - start, Math.min(until, start + day_ms) - start] as const)
    .filter(([from, until]) => from < until);
  if (parts.length === 0) return undefined;
  if (parts.some(([from, until]) => from === 0 && until === day_ms)) return 'all day';
  const texts = parts.slice(0, told).map(([from, until]) => `${clock(from)}–${clock(until)}`);
  return [...texts, ...(parts.length > told ? ['…'] : [])].join(', ');
}

/**
 * The days of the calendar by weeks, which begin on Mondays.
 * @param zone an IANA name
 */
export function weeksOf(spans: readonly FrozenSpan[], zone: string, now: Date): CalendarDay[][] {
  const local = spans.map(({ from, until }) => [localTime(zone, from), localTime(zone, until)] as const);
  const today = Math.floor(localTime(zone, now) / day_ms);
  const first = mondayOf(localTime(zone, now)) / day_ms;
  return Array.from({ length: shownWeeks }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const day = first + week * 7 + weekday;
      return {
        on: new Date(day * day_ms).toISOString().slice(0, 10),
        is_past: day < today,
        frozen: frozenIn(day * day_ms, local),
      };
    }),
  );
}
