/** Text as HTML that shows it as it is written. */
import MarkdownIt from 'markdown-it';
import { mapInSlices } from './slices.ts';

const { escapeHtml } = new MarkdownIt().utils;

export const asWritten = (text: string): string => escapeHtml(text);

/** Escaping this many takes about a millisecond. */
const piece_chars = 128 * 1024;

/** A whole text in `<pre>`. */
export async function toPlainHtml(text: string): Promise<string> {
  const count = Math.ceil(text.length / piece_chars);
  const pieces = Array.from({ length: count }, (_, index) =>
    text.slice(index * piece_chars, (index + 1) * piece_chars),
  );
  return `<pre>${(await mapInSlices(pieces, asWritten)).join('')}</pre>`;
}
