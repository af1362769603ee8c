/** Names of branches for issues (docs/reference/quick_actions.md). */

/** The maximum length of a name derived from a title, in characters. */
const maximumLength = 100;

/**
 * The name of the branch for an issue: its number and the words of its title.
 * @param issue the title is omitted for a confidential issue
 */
export function branchFor({ iid, title, confidential }: { iid: number; title: string; confidential: boolean }): string {
  const words = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const slug = confidential ? 'confidential-issue' : words.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  return `${iid}-${slug}`.slice(0, maximumLength).replace(/-$/, '');
}
