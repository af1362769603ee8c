/** The lines of a diff that comments can be about. Pure functions. */
import { createHash } from 'node:crypto';

/** A line of a diff: undefined on the side that does not have it. */
export interface DiffLine {
  old_line: number | undefined;
  new_line: number | undefined;
}

interface CountedLine extends DiffLine {
  /** The numbers on both sides; on one that does not have it, that of the next line there. */
  code: string;
}

const hunkStart = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines that the hunks of a diff show: unchanged ones too, but only those around a change. */
export function* linesIn(hunks: string): Generator<CountedLine> {
  let [old_line, new_line] = [0, 0];
  for (const text of hunks.split('\n')) {
    const [, from, to] = hunkStart.exec(text) ?? [];
    if (from !== undefined) [old_line, new_line] = [Number(from), Number(to)];
    else if (text.startsWith('+')) yield { old_line: undefined, new_line, code: `${old_line}_${new_line++}` };
    else if (text.startsWith('-')) yield { old_line, new_line: undefined, code: `${old_line++}_${new_line}` };
    else if (text.startsWith(' ')) yield { old_line, new_line, code: `${old_line++}_${new_line++}` };
  }
}

/** Whether a diff shows a line with exactly these numbers. */
export function shows(hunks: string, wanted: DiffLine): boolean {
  for (const { old_line, new_line } of linesIn(hunks))
    if (old_line === wanted.old_line && new_line === wanted.new_line) return true;
  return false;
}

/** The line codes of what a diff shows: the SHA-1 of the path after the change, and the numbers on both sides. A side without the line may also say 0. */
export function codesOf(path: string, hunks: string): Set<string> {
  const hash = createHash('sha1').update(path).digest('hex');
  const codes = new Set<string>();
  for (const { old_line, new_line, code } of linesIn(hunks))
    codes.add(`${hash}_${code}`).add(`${hash}_${old_line ?? 0}_${new_line ?? 0}`);
  return codes;
}
