/** What a new release is filled in with: the tag after the last one, and notes of what was merged since. Pure functions. */

const first = 'v1.0.0';

/** The tag after another one: its last number is one more. @param last undefined if there is none yet */
export function nextTag(last: string | undefined): string {
  if (last === undefined) return first;
  const [, before = '', number, behind = ''] = /^(.*?)(\d+)(\D*)$/s.exec(last) ?? [];
  return number === undefined ? `${last}-2` : `${before}${BigInt(number) + 1n}${behind}`;
}

interface Merged {
  title: string;
  iid: number;
}

/** A line of Markdown for each merge request. */
export const notesOf = (merged: readonly Merged[]): string =>
  merged.map(({ title, iid }) => `- ${title} (!${iid})`).join('\n');
