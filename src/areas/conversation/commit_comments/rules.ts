/** The lines of a diff that comments can be about. Pure functions. */

/** A line of a diff: undefined on the side that does not have it. */
export interface DiffLine {
  old_line: number | undefined;
  new_line: number | undefined;
}

const hunkStart = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines that the hunks of a diff show: unchanged ones too, but only those around a change. */
export function* linesIn(hunks: string): Generator<DiffLine> {
  let [old_line, new_line] = [0, 0];
  for (const text of hunks.split('\n')) {
    const [, from, to] = hunkStart.exec(text) ?? [];
    if (from !== undefined) [old_line, new_line] = [Number(from), Number(to)];
    else if (text.startsWith('+')) yield { old_line: undefined, new_line: new_line++ };
    else if (text.startsWith('-')) yield { old_line: old_line++, new_line: undefined };
    else if (text.startsWith(' ')) yield { old_line: old_line++, new_line: new_line++ };
  }
}

/** Whether a diff shows a line with exactly these numbers. */
export function shows(hunks: string, wanted: DiffLine): boolean {
  for (const { old_line, new_line } of linesIn(hunks))
    if (old_line === wanted.old_line && new_line === wanted.new_line) return true;
  return false;
}
