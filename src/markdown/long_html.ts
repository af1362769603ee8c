/** Renders long texts in a thread of its own: the parser takes disproportionate time for malicious ones, and cannot be interrupted. */
import { hash } from 'node:crypto';
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { isRendered, type TextContext, toHtml } from './html.ts';
import { toPlainHtml } from './plain.ts';
import { type Reference, referencesIn } from './references.ts';

/** A text with its context, in the form in which it is sent to the thread. */
export interface ToRender {
  text: string;
  /** The references that have a target, each with its address. */
  links: readonly (readonly [key: string, href: string])[];
  context: Omit<TextContext, 'linkOf'>;
}

/** Longer texts are shown as plain text. */
const maximum_chars = 1024 * 1024;

const threads = new FairThreads<ToRender, string | undefined>('markdown/html_worker', {
  heap_mib: 512,
  budget_ms: 3_000,
  mostWaiting: 100,
});

/** Identifies references with the same target. */
export const keyOfReference = ({ kind, path, value }: Reference): string => JSON.stringify([kind, path, value]);

async function linksIn(text: string, { linkOf }: TextContext): Promise<ToRender['links']> {
  if (!linkOf) return [];
  const links = new Map<string, string>();
  for (const reference of await referencesIn(text)) {
    const href = linkOf(reference);
    if (href !== undefined) links.set(keyOfReference(reference), href);
  }
  return [...links];
}

/**
 * Like `toHtml`, for a text of up to a million characters. One that takes too long is shown as plain text.
 * @param contextOf is called if the text is rendered
 * @param owner the owner of the text: owners take turns
 * @throws TooMuchWaiting when a hundred long ones of the owner are waiting
 */
export async function toLongHtml(text: string, contextOf: () => Promise<TextContext>, owner: number): Promise<string> {
  if (text.length > maximum_chars) return toPlainHtml(text);
  const context = await contextOf();
  if (isRendered(text)) return toHtml(text, context);
  const { linkOf: _linkOf, ...others } = context;
  const request = { text, links: await linksIn(text, context), context: others };
  try {
    return (await threads.run(request, { owner, content: hash('sha256', text) })) ?? (await toPlainHtml(text));
  } catch (error) {
    if (error instanceof OverBudget) return toPlainHtml(text);
    throw error;
  }
}
