/** Which words differ between a removed line and the added one in its place. */
import { commonPairs } from './hunk_rules.ts';

/** A part of a line, from one character up to another. */
export type Range = readonly [from: number, to: number];

export interface WordChanges {
  old: readonly Range[];
  new: readonly Range[];
}

/** Longer lines have no marks. */
const longest_chars = 500;
/** Of a line with more words, those at its start and end are compared. */
const mostComparisons = 10_000;
/** The part of both lines that must be equal; otherwise one is no version of the other. */
const leastCommon = 0.4;

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** The parts of a line that are among no pair. */
function rangesOf(words: readonly string[], kept: ReadonlySet<number>): Range[] {
  const ranges: [number, number][] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    const end = at + word.length;
    const last = ranges.at(-1);
    if (!kept.has(index)) {
      if (last?.[1] === at) last[1] = end;
      else ranges.push([at, end]);
    }
    at = end;
  }
  return ranges;
}

const lengthOf = (ranges: readonly Range[]): number => ranges.reduce((sum, [from, to]) => sum + to - from, 0);

/** @returns undefined if the lines have too little in common, or are too long */
export function changedWords(old_text: string, new_text: string): WordChanges | undefined {
  if (Math.max(old_text.length, new_text.length) > longest_chars) return undefined;
  const [before, after] = [wordsOf(old_text), wordsOf(new_text)];
  const pairs = commonPairs(before, after, mostComparisons);
  const changes = {
    old: rangesOf(before, new Set(pairs.map(([index]) => index))),
    new: rangesOf(after, new Set(pairs.map(([, index]) => index))),
  };
  const all = old_text.trim().length + new_text.trim().length;
  const common = old_text.length + new_text.length - lengthOf(changes.old) - lengthOf(changes.new);
  return all === 0 || common / (old_text.length + new_text.length) < leastCommon ? undefined : changes;
}

const piece = /<[^>]*>|&[#\w]+;|[\s\S]/gu;

/**
 * A line of HTML in which ranges of its text are in elements.
 * @param line escaped text, perhaps with `span` around words, which are not nested
 */
export function withRanges(line: string, ranges: readonly Range[], element: 'ins' | 'del'): string {
  if (ranges.length === 0) return line;
  let [result, at, index, isOpen] = ['', 0, 0, false];
  const close = () => {
    if (isOpen) result += `</${element}>`;
    isOpen = false;
  };
  for (const [part] of line.matchAll(piece)) {
    if (part.startsWith('<')) {
      // A mark does not cross the border of a word with a colour.
      close();
      result += part;
      continue;
    }
    while (index < ranges.length && at >= ranges[index]![1]) index += 1;
    const isInside = index < ranges.length && at >= ranges[index]![0];
    if (!isInside) close();
    else if (!isOpen) {
      result += `<${element}>`;
      isOpen = true;
    }
    result += part;
    at += part.startsWith('&') && part.length > 1 ? 1 : part.length;
  }
  close();
  return result;
}
