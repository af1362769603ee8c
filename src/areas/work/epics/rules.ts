/** Validation of epics. Pure functions. */

/** The fixed dates of an epic, each in effect only if marked as fixed. */
export interface FixedDates {
  start_date_is_fixed: boolean;
  start_date_fixed: string | null;
  due_date_is_fixed: boolean;
  due_date_fixed: string | null;
}

/** Whether an epic would end before it starts. */
export const endsBeforeStart = ({
  start_date_is_fixed,
  start_date_fixed,
  due_date_is_fixed,
  due_date_fixed,
}: FixedDates): boolean =>
  start_date_is_fixed &&
  due_date_is_fixed &&
  start_date_fixed !== null &&
  due_date_fixed !== null &&
  due_date_fixed < start_date_fixed;
