/** Reading the hunks of a unified diff, and changing how much of a file they show. */

/** A line of a diff; a number is absent on the side that does not have the line. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  old: number | undefined;
  new: number | undefined;
  text: string;
  /** What git says of the line, such as that no line break is behind it. */
  remark?: string;
}

/** Lines of a file that follow each other. */
export interface Hunk {
  /** The function around it, as git finds it; often empty. */
  title: string;
  lines: DiffLine[];
}

const hunkStart = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/** @param diff hunks without the header of the file */
export function hunksOf(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  let [before, after] = [0, 0];
  for (let at = 0; at < diff.length; ) {
    const next = diff.indexOf('\n', at);
    const end = next < 0 ? diff.length : next;
    const line = diff.slice(at, end);
    at = end + 1;
    const start = line.startsWith('@@') ? hunkStart.exec(line) : null;
    if (start) {
      [before, after] = [Number(start[1]), Number(start[2])];
      hunks.push({ title: start[3]!, lines: [] });
    }
    const lines = hunks.at(-1)?.lines;
    if (start || !lines) continue;
    const text = line.slice(1);
    if (line.startsWith('+')) lines.push({ kind: 'added', old: undefined, new: after++, text });
    else if (line.startsWith('-')) lines.push({ kind: 'removed', old: before++, new: undefined, text });
    else if (line.startsWith(' ')) lines.push({ kind: 'same', old: before++, new: after++, text });
    else if (lines.length > 0) lines.at(-1)!.remark = line.replace(/^\\ /, '');
  }
  return hunks;
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

/** Lines that are the same, or removed lines with the added ones in their place. */
export type Block = { same: DiffLine } | { removed: DiffLine[]; added: DiffLine[] };

/** The lines of a hunk in blocks. */
export function* blocksOf(lines: readonly DiffLine[]): Generator<Block> {
  let block: { removed: DiffLine[]; added: DiffLine[] } | undefined;
  for (const line of lines) {
    // Removed lines behind added ones are another change.
    if (block && (line.kind === 'same' || (line.kind === 'removed' && block.added.length > 0))) {
      yield block;
      block = undefined;
    }
    if (line.kind === 'same') {
      yield { same: line };
      continue;
    }
    block ??= { removed: [], added: [] };
    block[line.kind].push(line);
  }
  if (block) yield block;
}

/** The first number behind a hunk on each side, or the one of its first line. */
function edgesOf({ lines }: Hunk) {
  const first = lines.find((line) => line.new !== undefined);
  const last = lines.findLast((line) => line.new !== undefined);
  const [from, before] = [first?.new ?? 1, lines.find((line) => line.old !== undefined)?.old ?? 1];
  const to = last?.new ?? from - 1;
  const after = lines.findLast((line) => line.old !== undefined)?.old ?? before - 1;
  return { from, to, shiftBefore: from - before, shiftAfter: to - after };
}

/**
 * Hunks with more of the unchanged lines around them. Those that come to touch each other are joined.
 * @param text the lines of the file after the changes
 * @param count of lines above and below each hunk
 */
export function expanded(hunks: readonly Hunk[], text: readonly string[], count: number): Hunk[] {
  const wider: Hunk[] = [];
  let shown = 0;
  for (const [index, hunk] of hunks.entries()) {
    const { from, to, shiftBefore, shiftAfter } = edgesOf(hunk);
    const same = (number: number, shift: number): DiffLine => ({
      ...{ kind: 'same', old: number - shift, new: number, text: text[number - 1]! },
    });
    const next = hunks[index + 1];
    const end = Math.min(text.length, next ? edgesOf(next).from - 1 : text.length, to + count);
    const start = Math.max(shown + 1, from - count);
    const above = Array.from({ length: Math.max(0, from - start) }, (_, at) => same(start + at, shiftBefore));
    const below = Array.from({ length: Math.max(0, end - to) }, (_, at) => same(to + 1 + at, shiftAfter));
    const lines = [...above, ...hunk.lines, ...below];
    const last = wider.at(-1);
    if (last && start === shown + 1) last.lines.push(...lines);
    else wider.push({ title: above.length > 0 ? '' : hunk.title, lines });
    shown = Math.max(to, end);
  }
  return wider;
}

/** What must be equal in lines that differ in white space alone. */
const bare = (text: string): string => text.replaceAll(/\s+/g, '');

/** The most comparisons of lines in a block; of a larger one, lines at its start and end are compared. */
const mostComparisons = 40_000;

/** The pairs of positions of equal texts, in order, as many as possible. */
export function commonPairs(one: readonly string[], other: readonly string[], most: number): [number, number][] {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (
    end < one.length - start &&
    end < other.length - start &&
    one[one.length - 1 - end] === other[other.length - 1 - end]
  )
    end += 1;
  const pairs: [number, number][] = Array.from({ length: start }, (_, index) => [index, index]);
  const [rows, columns] = [one.length - start - end, other.length - start - end];
  if (rows > 0 && columns > 0 && rows * columns <= most) pairs.push(...longest(one, other, { start, rows, columns }));
  for (let index = end; index > 0; index--) pairs.push([one.length - index, other.length - index]);
  return pairs;
}

/** The longest common subsequence of two parts, by its table of lengths. */
function longest(
  one: readonly string[],
  other: readonly string[],
  { start, rows, columns }: { start: number; rows: number; columns: number },
): [number, number][] {
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] =
        one[start + row] === other[start + column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!);
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < rows && column < columns; )
    if (one[start + row] === other[start + column]) pairs.push([start + row++, start + column++]);
    else if (lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!) row += 1;
    else column += 1;
  return pairs;
}

/** Hunks in which lines that differ in white space alone are the same; those without other changes are left out. */
export function withoutSpaceChanges(hunks: readonly Hunk[]): Hunk[] {
  return hunks
    .map(({ title, lines }) => ({ title, lines: [...blocksOf(lines)].flatMap(sameWithoutSpace) }))
    .filter(({ lines }) => lines.some(({ kind }) => kind !== 'same'));
}

function sameWithoutSpace(block: Block): DiffLine[] {
  if ('same' in block) return [block.same];
  const { removed, added } = block;
  const texts = (lines: readonly DiffLine[]) => lines.map(({ text }) => bare(text));
  const result: DiffLine[] = [];
  let [before, after] = [0, 0];
  const pairs = commonPairs(texts(removed), texts(added), mostComparisons);
  for (const [old, now] of [...pairs, [removed.length, added.length] as const]) {
    result.push(...removed.slice(before, old), ...added.slice(after, now));
    if (old < removed.length && now < added.length)
      result.push({ ...added[now]!, kind: 'same', old: removed[old]!.old });
    [before, after] = [old + 1, now + 1];
  }
  return result;
}
