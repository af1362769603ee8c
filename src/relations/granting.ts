/** Records that give a right to everybody of a level, to a person, or to a group, which is its id at the source. */
import type { Arrival } from './arriving.ts';
import type { ArrivingRow, Derived } from './description.ts';

const noGroup = 'names a group that is not part of the migration';

/** The id here of the group that a record names in `group_id`; null when it names none, undefined when the group is not here. */
function groupOf({ value }: ArrivingRow, { group }: Arrival): number | null | undefined {
  const { group_id } = value;
  if (group_id === null || group_id === undefined) return null;
  return Number.isSafeInteger(group_id) ? group(group_id as number) : undefined;
}

/**
 * Completes the columns `access_level`, `user_id` and `group_id`, of which one counts: other servers give a person or a group a level, too.
 * @param levels those that may be given
 * @returns the reasons against rows that give the right to nobody here
 */
export function completeGrants(rows: readonly ArrivingRow[], arrival: Arrival, levels: readonly number[]): Derived {
  const reasons = new Map<ArrivingRow, string>();
  for (const each of rows) {
    const { row } = each;
    const group_id = groupOf(each, arrival);
    row.group_id = row.user_id === null ? (group_id ?? null) : null;
    if (group_id === undefined) reasons.set(each, noGroup);
    else if (row.user_id !== null || row.group_id !== null) row.access_level = null;
    else if (!levels.includes(row.access_level as number)) reasons.set(each, 'names no level, no person and no group');
  }
  return reasons;
}

/** Completes the column `group_id` of rows that name nothing but a group. */
export function completeGroups(rows: readonly ArrivingRow[], arrival: Arrival): Derived {
  const reasons = new Map<ArrivingRow, string>();
  for (const each of rows) {
    each.row.group_id = groupOf(each, arrival) ?? null;
    if (each.row.group_id === null) reasons.set(each, noGroup);
  }
  return reasons;
}
