/** Reading the hunks of a unified diff, line by line. */

/** A line of a diff; a number is absent on the side that does not have the line. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  old: number | undefined;
  new: number | undefined;
  text: string;
}

/** A row between the lines: the start of a hunk, or a remark of git. */
export interface DiffHead {
  kind: 'hunk' | 'remark';
  text: string;
}

const hunkStart = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** @param diff hunks without the header of the file */
export function* linesOfDiff(diff: string): Generator<DiffLine | DiffHead> {
  let [before, after] = [0, 0];
  for (let at = 0; at < diff.length; ) {
    const next = diff.indexOf('\n', at);
    const end = next < 0 ? diff.length : next;
    const line = diff.slice(at, end);
    at = end + 1;
    const text = line.slice(1);
    if (line.startsWith('+')) yield { kind: 'added', old: undefined, new: after++, text };
    else if (line.startsWith('-')) yield { kind: 'removed', old: before++, new: undefined, text };
    else if (line.startsWith('@@')) {
      const [, from = 0, to = 0] = hunkStart.exec(line) ?? [];
      [before, after] = [Number(from), Number(to)];
      yield { kind: 'hunk', text: line };
    } else if (line.startsWith(' ')) yield { kind: 'same', old: before++, new: after++, text };
    else yield { kind: 'remark', text: line.replace(/^\\ /, '') };
  }
}

export interface LineCounts {
  added: number;
  removed: number;
  /** The number of all lines. */
  lines: number;
}

/** The numbers of added, removed and all lines of a diff. */
export function countsOf(diff: string): LineCounts {
  const counts = { added: 0, removed: 0, lines: 0 };
  for (let at = 0; at < diff.length; ) {
    if (diff[at] === '+') counts.added += 1;
    else if (diff[at] === '-') counts.removed += 1;
    counts.lines += 1;
    const next = diff.indexOf('\n', at);
    at = next < 0 ? diff.length : next + 1;
  }
  return counts;
}
