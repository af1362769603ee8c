/** The values of the `due_date` filter, such as `today` and `week`, as days in UTC. */
import { dayOf } from '../../../cron/index.ts';

/** The values that are not ranges: `0` for issues without a due date, `any` for issues with one. */
export const dueDates = [
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const;
export type DueDate = (typeof dueDates)[number];

/** An inclusive range of days, `YYYY-MM-DD`; without `from` it has no start. */
export interface Days {
  from?: string;
  until: string;
}

const calendarDay = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day));

/** The range of days for a value at a given time. */
export function daysNamed(name: Exclude<DueDate, '0' | 'any'>, moment: Date): Days {
  const [year, month, day] = [moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate()];
  const from = (start: Date, end: Date): Days => ({ from: dayOf(start), until: dayOf(end) });
  const at = (days: number) => calendarDay(year, month, day + days);
  // Weeks begin on Monday.
  const monday = -((moment.getUTCDay() + 6) % 7);
  switch (name) {
    case 'today':
      return from(at(0), at(0));
    case 'tomorrow':
      return from(at(1), at(1));
    case 'overdue':
      return { until: dayOf(at(-1)) };
    case 'week':
      return from(at(monday), at(monday + 6));
    case 'month':
      return from(calendarDay(year, month, 1), calendarDay(year, month + 1, 0));
    case 'next_month_and_previous_two_weeks':
      return from(at(-14), calendarDay(year, month + 2, 0));
  }
}
