/** The lines of a text for display. A text may consist only of line breaks, so it is never split as a whole. */

/** The rest of a longer line is cut off. */
export const lineEnd_chars = 5_000;

export interface LinePage {
  lines: string[];
  /** The number of the first line, from 1. */
  first: number;
  has_more: boolean;
}

/** The offset of a line; the end of the text if it has fewer lines. @param number from 1 */
function startOf(text: string, number: number): number {
  let at = 0;
  for (let line = 1; line < number && at < text.length; line++) {
    const end = text.indexOf('\n', at);
    at = end < 0 ? text.length : end + 1;
  }
  return at;
}

/** A page of the lines of a text, without the empty one after the last line break. @param page from 1 */
export function linesOnPage(text: string, page: number, per_page: number): LinePage {
  const first = (page - 1) * per_page + 1;
  const start = startOf(text, first);
  const shown = text.slice(start);
  const end = startOf(shown, per_page + 1);
  const lines = shown === '' ? [] : shown.slice(0, end).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { lines, first, has_more: end < shown.length };
}

/** Whether a text has more lines than this. */
export const hasMoreLines = (text: string, count: number): boolean => startOf(text, count + 1) < text.length;

/** Whether a line of a text is cut off. */
export function hasLongLine(text: string): boolean {
  for (let at = 0; text.length - at > lineEnd_chars; ) {
    const end = text.lastIndexOf('\n', at + lineEnd_chars);
    if (end < at) return true;
    at = end + 1;
  }
  return false;
}
