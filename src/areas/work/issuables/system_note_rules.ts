/** The wording of system notes about changes (docs/reference/notes.md). Pure functions. */

/** `a`, `a and b`, `a, b, and c`. */
function listed(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;
}

const at = (names: readonly string[]) => listed(names.map((name) => `@${name}`));

/** `assigned to @a and unassigned @b`, with the names of users; at least one is given. */
export const assigneesChanged = (added: readonly string[], removed: readonly string[]): string =>
  [
    ...(added.length > 0 ? [`assigned to ${at(added)}`] : []),
    ...(removed.length > 0 ? [`unassigned ${at(removed)}`] : []),
  ].join(' and ');

/** `requested review from @a and removed review request for @b`, likewise. */
export const reviewersChanged = (added: readonly string[], removed: readonly string[]): string =>
  [
    ...(added.length > 0 ? [`requested review from ${at(added)}`] : []),
    ...(removed.length > 0 ? [`removed review request for ${at(removed)}`] : []),
  ].join(' and ');

const severities: Record<string, string> = {
  UNKNOWN: 'Unknown',
  LOW: 'Low - S4',
  MEDIUM: 'Medium - S3',
  HIGH: 'High - S2',
  CRITICAL: 'Critical - S1',
};

export const severityChanged = (severity: string): string =>
  `changed the severity to **${severities[severity] ?? severity}**`;

export const confidentialityChanged = (noun: string, confidential: boolean): string =>
  confidential ? `made the ${noun} confidential` : `made the ${noun} visible to everyone`;

export const lockChanged = (noun: string, locked: boolean): string =>
  `${locked ? 'locked' : 'unlocked'} the discussion in this ${noun}`;

/** `issue_type` in words, e.g. `test case`. */
const kindName = (issue_type: string) => issue_type.replace('_', ' ');

export const typeChanged = (from: string, to: string): string =>
  `changed type from ${kindName(from)} to ${kindName(to)}`;

/** @param printed formatted by `printDuration` */
export const estimateChanged = (printed: string | null): string =>
  printed === null ? 'removed time estimate' : `changed time estimate to ${printed}`;

/**
 * @param printed formatted by `printDuration`
 * @param spent_on `YYYY-MM-DD`, if not today
 */
export const timeSpent = (printed: string, isTakenBack: boolean, spent_on?: string): string =>
  `${isTakenBack ? 'subtracted' : 'added'} ${printed} of time spent${spent_on === undefined ? '' : ` at ${spent_on}`}`;
