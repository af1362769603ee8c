/** Highlights programs in a thread of its own, which ends when idle: grammars take memory, and a text can take long to parse. */
import { LRUCache } from 'lru-cache';
import { FairThreads, TooMuchWaiting } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { isLanguageKnown } from './languages.ts';

/** A text with the name of its file, as threads receive it. */
export interface ToHighlight {
  text: string;
  file_name: string;
}

const threads = new FairThreads<ToHighlight, string>('highlighting/highlight_worker', {
  heap_mib: 128,
  budget_ms: 1_000,
  mostWaiting: 20,
});

/** Highlighted lines, cached by the id of the blob and the facts that decide the language. A character takes up to two bytes. */
const known = new LRUCache<string, readonly string[]>({ maxSize: 8 * 1024 * 1024 });

/**
 * The lines of a program as HTML: their text is escaped, and its words are in `<span>` with a class of one letter.
 * @param blob_id names the content
 * @param owner the owner of the file: owners take turns
 * @returns undefined if the language is unknown, or if the work exceeds the limits
 */
export async function highlighted(
  { text, file_name }: ToHighlight,
  { blob_id, owner }: { blob_id: string; owner: number },
): Promise<readonly string[] | undefined> {
  if (!isLanguageKnown(file_name)) return undefined;
  const key = `${blob_id} ${file_name.toLowerCase()}`;
  const before = known.get(key);
  if (before) return before;
  try {
    const html = await threads.run({ text, file_name }, { owner, content: key });
    const lines = html.split('\n');
    known.set(key, lines, { size: 200 + html.length * 2 + lines.length * 32 });
    return lines;
  } catch (error) {
    if (error instanceof OverBudget || error instanceof TooMuchWaiting) return undefined;
    throw error;
  }
}
