/** Suggestions: changes of lines in notes on diffs (docs/reference/merge_requests.md#suggestions). Pure functions. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Position } from './position_rules.ts';

/** The maximum number of lines above and below the line of the note, as in v4. */
const maximumLines = 100;

const block = /^suggestion(?::-(\d{1,6})\+(\d{1,6}))?$/;

/** Whether the info string of an opening fence makes the block a suggestion. */
export const isSuggestion = (info: string): boolean => block.test(info);

/** The lines that a suggestion replaces, relative to the line of the note. */
export interface Reach {
  lines_above: number;
  lines_below: number;
}

/**
 * The lines that a suggestion covers: `suggestion:-2+1` two lines up and one down, `suggestion` only the line itself.
 */
export function reachOf(info: string): Reach {
  const [, above = '0', below = '0'] = block.exec(info) ?? [];
  return { lines_above: Math.min(Number(above), maximumLines), lines_below: Math.min(Number(below), maximumLines) };
}

/** The line of the changed file to which suggestions at a position apply; undefined if suggestions are not possible. */
export const suggestedLine = (position: Position | null): number | undefined =>
  (position?.position_type === 'text' ? position.new_line : undefined) ?? undefined;

/** A range of lines in a file, in bytes: from the start of the first line to the end of the last one. */
export interface LineSpan {
  start: number;
  end: number;
  /** The number of lines in the span, which is lower than requested at the end of the file. */
  count: number;
}

const line_feed = 10;

/**
 * Finds the span of lines in a file.
 * @param from the first line, counted from 1
 * @param to the last line
 * @returns undefined if the file ends before the first one
 */
export function spanOf(content: Buffer, from: number, to: number): LineSpan | undefined {
  let [line, at] = [1, 0];
  for (; line < from && at < content.length; at++) if (content[at] === line_feed) line++;
  if (line < from || at >= content.length) return undefined;
  const start = at;
  for (; line <= to && at < content.length; at++) if (content[at] === line_feed) line++;
  const isCut = at === content.length && content[at - 1] !== line_feed;
  return { start, end: at, count: line - from + (isCut && line <= to ? 1 : 0) };
}

/** The lines as text; undefined if they are not UTF-8 or contain NUL, which PostgreSQL does not accept in texts. */
export function linesAt(content: Buffer, { start, end }: LineSpan): string | undefined {
  const bytes = content.subarray(start, end);
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
}

/**
 * Adapts the text of a suggestion to the file: with the line breaks of the replaced lines, and without a final one at
 * the end of a file that has none.
 * @param text each line ends with a line feed
 */
export function fitted(text: string, replaced: string): string {
  const ended = replaced.endsWith('\n') ? text : text.slice(0, -1);
  return replaced.includes('\r\n') ? ended.replaceAll(/\r?\n/g, '\r\n') : ended;
}

/** The digest by which lines are recognized, as `sha256` of PostgreSQL computes it in hexadecimal digits. */
export const digestOf = (content: Buffer, { start, end }: LineSpan): string =>
  createHash('sha256').update(content.subarray(start, end)).digest('hex');
