/** The lines of a diff that comments can refer to. Pure functions. */
import { createHash } from 'node:crypto';

/** A line of a diff: undefined on the side that does not have it. */
export interface DiffLine {
  old_line: number | undefined;
  new_line: number | undefined;
}

export interface CountedLine extends DiffLine {
  /** The numbers on both sides; on the side without the line, the number of the next line there. */
  at: readonly [old_line: number, new_line: number];
}

const hunkStart = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines shown in the hunks of a diff, including unchanged lines around a change. */
export function* linesIn(hunks: string): Generator<CountedLine> {
  let [old_line, new_line] = [0, 0];
  for (const text of hunks.split('\n')) {
    const [, from, to] = hunkStart.exec(text) ?? [];
    if (from !== undefined) [old_line, new_line] = [Number(from), Number(to)];
    else if (text.startsWith('+')) yield { old_line: undefined, new_line, at: [old_line, new_line++] };
    else if (text.startsWith('-')) yield { old_line, new_line: undefined, at: [old_line++, new_line] };
    else if (text.startsWith(' ')) yield { old_line, new_line, at: [old_line++, new_line++] };
  }
}

/** Whether a diff shows a line with exactly these numbers. */
export function shows(hunks: string, wanted: DiffLine): boolean {
  for (const { old_line, new_line } of linesIn(hunks))
    if (old_line === wanted.old_line && new_line === wanted.new_line) return true;
  return false;
}

const codeIn = (path: string) => {
  const hash = createHash('sha1').update(path).digest('hex');
  return (old_line: number, new_line: number) => `${hash}_${old_line}_${new_line}`;
};

/** The line code of a line with these numbers: the SHA-1 of the path after the change, and the numbers on both sides. */
export const lineCode = (path: string, [old_line, new_line]: CountedLine['at']): string =>
  codeIn(path)(old_line, new_line);

/** The line codes of all lines in a diff. For the side without the line, clients may also use 0. */
export function codesOf(path: string, hunks: string): Set<string> {
  const code = codeIn(path);
  const codes = new Set<string>();
  for (const { old_line, new_line, at } of linesIn(hunks))
    codes.add(code(...at)).add(code(old_line ?? 0, new_line ?? 0));
  return codes;
}

/**
 * Maps lines from the old side of a change to the new side.
 * @param hunks all hunks of the change
 * @param wanted numbers of lines on the old side
 * @returns their numbers on the new side, without removed lines
 */
export function movedLines(hunks: string, wanted: Iterable<number>): Map<number, number> {
  const rest = [...new Set(wanted)].sort((one, other) => other - one);
  const moved = new Map<number, number>();
  let shift = 0;
  const moveBefore = (end: number) => {
    for (let line = rest.at(-1); line !== undefined && line < end; line = rest.at(-1))
      moved.set(rest.pop()!, line + shift);
  };
  for (const { old_line, new_line, at } of linesIn(hunks)) {
    moveBefore(at[0]);
    if (old_line === undefined) shift++;
    if (new_line !== undefined) continue;
    if (rest.at(-1) === old_line) rest.pop();
    shift--;
  }
  moveBefore(Number.POSITIVE_INFINITY);
  return moved;
}
