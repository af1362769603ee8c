/** The wording of system notes about approvals. Pure functions. */

/** More names than this are not listed. */
const most_named = 20;

/**
 * The system note of approvals that were removed.
 * @param usernames of those who had given them
 * @param reason its end, e.g. `by pushing to the branch`
 */
export function wordsForReset(usernames: readonly string[], reason?: string): string {
  const others = usernames.length - most_named;
  const named = usernames.slice(0, most_named).map((username) => `@${username}`);
  const all = others > 0 ? [...named, `${others} more`] : named;
  const names = new Intl.ListFormat('en').format(all);
  return `reset approvals from ${names}${reason === undefined ? '' : ` ${reason}`}`;
}
