/** Days as lists of issues name them: `today`, `week`, … as the clock on the server's wall says. */

/** What `due_date` may be, besides days: `0` for issues without one, `any` for those with one. */
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

/** Days, `YYYY-MM-DD`, both included; without an end it is open there. */
export interface Days {
  from?: string;
  until?: string;
}

const dayText = (day: Date) => day.toISOString().slice(0, 10);

/** Counted in UTC, where every day has 24 hours. */
const calendarDay = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day));

/** The day of a moment in the server's time zone, `YYYY-MM-DD`. */
export const dayOf = (moment: Date): string => dayText(calendarDay(moment.getFullYear(), moment.getMonth(), moment.getDate()));

/** The days that a name stands for at a moment. */
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
