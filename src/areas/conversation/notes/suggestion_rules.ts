/** Suggestions: changes of lines that notes on diffs propose (docs/reference/merge_requests.md#suggestions). Pure functions. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Position } from './position_rules.ts';

/** The most lines above and below the line of the note, as of v4. */
const maximumLines = 100;

const block = /^suggestion(?::-(\d{1,6})\+(\d{1,6}))?$/;

/** Whether what follows an opening fence makes the block a suggestion. */
export const isSuggestion = (info: string): boolean => block.test(info);

/** The lines that a suggestion replaces, around that of the note. */
export interface Reach {
  lines_above: number;
  lines_below: number;
}

/** How far a suggestion reaches: `suggestion:-2+1` two lines up and one down, `suggestion` not at all. */
export function reachOf(info: string): Reach {
  const [, above = '0', below = '0'] = block.exec(info) ?? [];
  return { lines_above: Math.min(Number(above), maximumLines), lines_below: Math.min(Number(below), maximumLines) };
}

/** The line of the changed file that suggestions at a position are about; undefined where there can be none. */
export const suggestedLine = (position: Position | null): number | undefined =>
  (position?.position_type === 'text' ? position.new_line : undefined) ?? undefined;

/** Lines of a file, in bytes: from the first one that is wanted to the end of the last one. */
export interface LineSpan {
  start: number;
  end: number;
  /** How many lines the span has, which are fewer than wanted at the end of the file. */
  count: number;
}

const line_feed = 10;

/**
 * Where lines of a file are.
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

/** The lines as text; undefined if they are not UTF-8 or hold NUL, which PostgreSQL accepts in no text. */
export function linesAt(content: Buffer, { start, end }: LineSpan): string | undefined {
  const bytes = content.subarray(start, end);
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
}

/**
 * The text of a suggestion as a file takes it: with the line breaks of the lines that it replaces, and without one at the end of a file that has none.
 * @param text each line ends with a line feed
 */
export function fitted(text: string, replaced: string): string {
  const ended = replaced.endsWith('\n') ? text : text.slice(0, -1);
  return replaced.includes('\r\n') ? ended.replaceAll(/\r?\n/g, '\r\n') : ended;
}

/** What lines are recognized by, as `sha256` of PostgreSQL computes it in hexadecimal digits. */
export const digestOf = (content: Buffer, { start, end }: LineSpan): string =>
  createHash('sha256').update(content.subarray(start, end)).digest('hex');
