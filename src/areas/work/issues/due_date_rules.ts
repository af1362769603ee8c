/** The values of the `due_date` filter: `today`, `week`, … in the server's time zone. */

/** The values besides days: `0` for issues without a due date, `any` for those with one. */
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

/** An inclusive range of days, `YYYY-MM-DD`; a missing end is open. */
export interface Days {
  from?: string;
  until?: string;
}

const dayText = (day: Date) => day.toISOString().slice(0, 10);

/** Counted in UTC, where every day has 24 hours. */
const calendarDay = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day));

/** The day of a time in the server's time zone, `YYYY-MM-DD`. */
export const dayOf = (moment: Date): string => dayText(calendarDay(moment.getFullYear(), moment.getMonth(), moment.getDate()));

/** The range of days that a value means at a time. */
export function daysNamed(name: Exclude<DueDate, '0' | 'any'>, moment: Date): Days {
  const [year, month, day] = [moment.getFullYear(), moment.getMonth(), moment.getDate()];
  const from = (start: Date, end: Date): Days => ({ from: dayText(start), until: dayText(end) });
  const at = (days: number) => calendarDay(year, month, day + days);
  // Weeks begin on Monday.
  const monday = -((moment.getDay() + 6) % 7);
  switch (name) {
    case 'today':
      return from(at(0), at(0));
    case 'tomorrow':
      return from(at(1), at(1));
    case 'overdue':
      return { until: dayText(at(-1)) };
    case 'week':
      return from(at(monday), at(monday + 6));
    case 'month':
      return from(calendarDay(year, month, 1), calendarDay(year, month + 1, 0));
    case 'next_month_and_previous_two_weeks':
      return from(at(-14), calendarDay(year, month + 2, 0));
  }
}
