/** Dates of iterations. */
import { daysAfter, daysBetween } from '../../../cron/index.ts';

export interface Span {
  start_date: string;
  due_date: string;
}

/** The schedule of an automatic cadence. */
export interface Rhythm {
  start_date: string;
  duration_in_weeks: number;
}

/**
 * The spans of the next iterations of a cadence, without gaps. They start on its first day, or after the latest iteration. Past time without iterations
 * is skipped in whole durations: an iteration that is over before it is created has no use.
 * @param last_due the last day of the latest iteration
 * @param count how many iterations that start after `now` to create; one in progress is additional
 * @param now today
 */
export function nextSpans(rhythm: Rhythm, last_due: string | undefined, count: number, now: string): Span[] {
  const length_days = rhythm.duration_in_weeks * 7;
  const behind = last_due === undefined ? rhythm.start_date : daysAfter(last_due, 1);
  const hasBegun = behind > rhythm.start_date;
  const from = hasBegun ? behind : rhythm.start_date;
  const passed = Math.max(0, Math.floor(daysBetween(from, now) / length_days));
  const first = daysAfter(from, passed * length_days);
  const isUnderWay = first <= now;
  return Array.from({ length: count + (isUnderWay ? 1 : 0) }, (_, index) => {
    const start_date = daysAfter(first, index * length_days);
    return { start_date, due_date: daysAfter(start_date, length_days - 1) };
  });
}

/**
 * The latest date accepted in a request: years have four digits, including those of iterations that a cadence adds
 * after it.
 */
export const lastDay = '9000-12-31';

/** A cadence as it would be stored. */
export interface CadenceFields {
  title: string;
  description: string | null;
  active: boolean;
  automatic: boolean;
  start_date: string | null;
  duration_in_weeks: number | null;
  iterations_in_advance: number | null;
  roll_over: boolean;
}

const maximumTitle = 255;
const maximumDescription = 1024 * 1024;

/** Reasons against the texts of a cadence or an iteration, by field. */
export function wordReasons({
  title,
  description,
}: {
  title: string | null;
  description: string | null;
}): Record<string, string[]> {
  const reasons: Record<string, string[]> = {};
  if (title === '') reasons.title = ["can't be blank"];
  if ((title?.length ?? 0) > maximumTitle) reasons.title = [`is too long (maximum is ${maximumTitle} characters)`];
  if ((description?.length ?? 0) > maximumDescription)
    reasons.description = [`is too long (maximum is ${maximumDescription} characters)`];
  return reasons;
}

/** Reasons against a cadence, by field; an automatic one needs a complete schedule. */
export function cadenceReasons(cadence: CadenceFields): Record<string, string[]> {
  const reasons = wordReasons(cadence);
  const needed = cadence.automatic ? (['start_date', 'duration_in_weeks', 'iterations_in_advance'] as const) : [];
  for (const field of needed) if (cadence[field] === null) reasons[field] = ["can't be blank"];
  if ((cadence.start_date ?? '') > lastDay) reasons.start_date = [`must be on or before ${lastDay}`];
  return reasons;
}
