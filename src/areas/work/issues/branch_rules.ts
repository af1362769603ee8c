/** Names of branches for issues (docs/reference/quick_actions.md). */

/** Characters of the longest name that is made of a title. */
const maximumLength = 100;

/**
 * The name of the branch on which an issue is worked on: its number and the words of its title.
 * @param issue of a confidential one the title is left out
 */
export function branchFor({ iid, title, confidential }: { iid: number; title: string; confidential: boolean }): string {
  const words = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const slug = confidential ? 'confidential-issue' : words.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  return `${iid}-${slug}`.slice(0, maximumLength).replace(/-$/, '');
}
