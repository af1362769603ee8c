/** Validation of issues, and rules about who may set which parameters (docs/reference/issues.md). Pure functions. */
import { levels, type Project } from '../../../access/index.ts';
import { forbidden } from '../../../http/index.ts';

/** The column has four bytes. */
const largest = 2 ** 31 - 1;

const rangeReasons = (number: number, least: number, most: number): string[] => {
  if (number < least) return [`must be greater than or equal to ${least}`];
  return number > most ? [`must be less than or equal to ${most}`] : [];
};

export const weightReasons = (weight: number | null): string[] =>
  weight === null ? [] : rangeReasons(weight, 0, largest);

/** Numbering continues after a chosen iid, so the column must have room for further numbers. */
const maximumChosen = 1_000_000_000;
export const numberReasons = (iid: number): string[] => rangeReasons(iid, 1, maximumChosen);

/** @throws ApiError 403 for an issue type that the caller may not create */
export function checkKind({ access_level }: Project, issue_type: string | undefined): void {
  if (issue_type === 'incident' && access_level < levels.reporter) throw forbidden();
}

function without<T extends object>(given: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name))) as T;
}

/** Parameters for owners only. */
const forOwners = ['iid', 'created_at', 'updated_at'];
/** Parameters that members may set on a new issue, and that members from Planner up may set on an existing one. */
const forMembers = [
  'assignee_id',
  'assignee_ids',
  'labels',
  'add_labels',
  'remove_labels',
  'milestone_id',
  'due_date',
  'weight',
  'epic_id',
  'epic_iid',
  'iteration_id',
  'health_status',
  'discussion_locked',
];

/**
 * The parameters of a new issue that the caller may set. As documented, others are ignored and not validated.
 * @param given parameters by name
 */
export function heardOnNew<T extends object>({ access_level }: Project, given: T): T {
  return without(given, [
    ...(access_level >= levels.owner ? [] : forOwners),
    ...(access_level >= levels.guest ? [] : forMembers),
  ]);
}

/**
 * The parameters of an existing issue that the caller may set.
 * @param issue the issue before the change
 */
export function heardOnChange<T extends { state_event?: 'close' | 'reopen' }>(
  { access_level }: Project,
  { discussion_locked }: { discussion_locked: boolean | null },
  given: T,
): T {
  if (access_level >= levels.planner) return without(given, access_level >= levels.owner ? [] : forOwners);
  const staysClosed = given.state_event === 'reopen' && discussion_locked === true && access_level < levels.guest;
  return without(given, [...forOwners, ...forMembers, 'confidential', ...(staysClosed ? ['state_event'] : [])]);
}

/** Whether missing labels are created when the caller uses them. */
export const createsLabels = ({ access_level }: Project): boolean => access_level >= levels.planner;
