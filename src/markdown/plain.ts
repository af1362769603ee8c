/** Text as HTML that shows it as it is written. */
import MarkdownIt from 'markdown-it';
import { currentOwner } from '../foundation/clients.ts';
import { FairThreads } from '../foundation/fair_threads.ts';

const { escapeHtml } = new MarkdownIt().utils;

export const asWritten = (text: string): string => escapeHtml(text);

/** Escaping this many takes about a millisecond, and a million 40. */
const short_chars = 32 * 1024;

const threads = new FairThreads<string, string>('markdown/plain_worker', {
  heap_mib: 256,
  budget_ms: 3_000,
  mostWaiting: 1000,
});
let count = 0;

/**
 * A whole text in `<pre>`. Long ones are written in a thread, in turns of the clients.
 * @throws TooMuchWaiting when a thousand long ones of this client are waiting
 */
export async function toPlainHtml(text: string): Promise<string> {
  const html =
    text.length <= short_chars
      ? asWritten(text)
      : await threads.run(text, { owner: currentOwner(), content: String(++count) });
  return `<pre>${html}</pre>`;
}
