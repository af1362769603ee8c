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

/** Whether missing labels are created when the caller uses them. */
export const createsLabels = ({ access_level }: Project): boolean => access_level >= levels.planner;
