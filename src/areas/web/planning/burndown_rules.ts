/** The burndown of a milestone: how many of its issues were open at the end of each day. Pure functions. */

export interface BurndownChange {
  /** ISO 8601. */
  created_at: string;
  action: 'created' | 'closed' | 'reopened';
}

export interface BurndownDay {
  /** ISO 8601, without a time. */
  day: string;
  open: number;
}

const day_ms = 86_400_000;
/** The maximum number of days shown, which is also the width of the picture in points. */
const maximumDays = 400;

/**
 * The number of open issues at the end of each day, from the first day to the last, or to today if that is earlier.
 * @param changes oldest first
 * @param first ISO 8601, without a time
 * @param today ISO 8601, without a time
 */
export function burndownOf(
  changes: readonly BurndownChange[],
  { first, last, today }: { first: string; last: string; today: string },
): BurndownDay[] {
  const end = Date.parse(last < today ? last : today);
  const days: BurndownDay[] = [];
  let [open, next] = [0, 0];
  for (let at = Date.parse(first); at <= end && days.length < maximumDays; at += day_ms) {
    const day = new Date(at).toISOString().slice(0, 10);
    for (; next < changes.length && changes[next]!.created_at.slice(0, 10) <= day; next++)
      open += changes[next]!.action === 'closed' ? -1 : 1;
    days.push({ day, open: Math.max(0, open) });
  }
  return days;
}
