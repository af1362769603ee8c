/** The lines of a text as they are shown. */

/** The rest of a longer line is cut off. */
export const lineEnd_chars = 5_000;

/** Without the empty one behind the last line break. */
export function linesToShow(text: string): { lines: string[]; has_long: boolean } {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { lines, has_long: lines.some(({ length }) => length > lineEnd_chars) };
}
