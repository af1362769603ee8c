/** The wording of system notes about versions (docs/reference/notes.md). Pure functions. */
import type { Commit } from '../../../../git/index.ts';
import { counted } from '../../../../texts/index.ts';

/** The most commits listed. */
export const maximumListed = 100;
const shortId_characters = 8;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * `added 2 commits`, a list of them, oldest first, and a link to the comparison with the previous version.
 * @param commits newest first, at most one more than can be listed
 */
export function commitsAdded(commits: readonly Pick<Commit, 'id' | 'title'>[], address: string): string {
  const isLong = commits.length > maximumListed;
  const count = isLong ? `more than ${maximumListed} commits` : counted(commits.length, 'commit');
  const listed = commits
    .slice(0, maximumListed)
    .toReversed()
    .map(({ id, title }) => `<li>${id.slice(0, shortId_characters)} - ${escaped(title)}</li>`);
  const list = listed.length > 0 ? `<ul>${listed.join('')}</ul>\n\n` : '';
  return `added ${count}\n\n${list}[Compare with previous version](${address})`;
}

export const branchGone = (branch: string): string => `deleted source branch \`${branch}\``;
export const branchRestored = (branch: string): string => `restored source branch \`${branch}\``;
export const mergeAborted = 'aborted the automatic merge because source branch was updated';
