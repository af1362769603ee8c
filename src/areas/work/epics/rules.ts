/** What epics may be, and the orders in them. Pure functions. */
import type { Order } from '../issuables/index.ts';

/** Dates of an epic, each in force where it is fixed. */
export interface FixedDates {
  start_date_is_fixed: boolean;
  start_date_fixed: string | null;
  due_date_is_fixed: boolean;
  due_date_fixed: string | null;
}

/** Whether an epic would end before it begins. */
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

/** The order of the issues of an epic, by the ids of `epic_issues`. */
export const issuesIn = (epic_id: number): Order => ({
  table: 'epic_issues',
  scope: 'epic_id',
  scope_id: epic_id,
  scopes: 'epics',
  ties: 'asc',
});

/** The order of the children of an epic. */
export const childrenIn = (epic_id: number): Order => ({
  table: 'epics',
  scope: 'parent_id',
  scope_id: epic_id,
  scopes: 'epics',
  ties: 'asc',
});
