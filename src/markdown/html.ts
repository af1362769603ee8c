/** Markdown as HTML: short texts at once, and long ones in threads, since the parser takes disproportionate time for malicious ones and cannot be interrupted. */
import { hash } from 'node:crypto';
import { answersOf } from '../foundation/caches.ts';
import { currentOwner } from '../foundation/clients.ts';
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { hasFormulas } from './formulas.ts';
import { asWritten, toPlainHtml } from './plain.ts';
import { type Reference, referencesIn } from './references.ts';
import type { TextContext } from './sanitizing.ts';

/** A text with its context, in the form in which it is sent to the thread. */
export interface ToRender {
  text: string;
  /** The references that have a target, each with its address. */
  links: readonly (readonly [key: string, href: string])[];
  context: Omit<TextContext, 'linkOf'>;
}

/** Longer texts are rendered in a thread: 35 ms for 10,000 characters of the worst kind, and another 15 ms for filtering their HTML. */
const short_chars = 10_000;
/** As much as the API takes. Longer texts are shown as written. */
const maximum_chars = 1024 * 1024;
/** The longest HTML of a short text: a few characters can expand to many copies of a long address or a deep list, and the filter reads all of it. */
const shortHtml_chars = 40_000;

const threads = new FairThreads<ToRender, string | undefined>('markdown/html_worker', {
  heap_mib: 512,
  budget_ms: 3_000,
  mostWaiting: 100,
});

interface Asked {
  request: ToRender;
  owner: number | string;
}

const isShort = ({ text, context }: ToRender) =>
  text.length <= short_chars && (context.is_mail === true || !hasFormulas(text));

async function inThread({ request, owner }: Asked): Promise<string | undefined> {
  try {
    return await threads.run(request, { owner, content: hash('sha256', request.text) });
  } catch (error) {
    if (error instanceof OverBudget) return undefined;
    throw error;
  }
}

/** The HTML of texts, by all that it depends on; undefined in it if the text is shown as written. Most texts are read far more often than they change. */
const rendered = answersOf(
  async (asked: Asked): Promise<{ html: string | undefined }> => ({
    html: isShort(asked.request) ? await renderedHtml(asked.request, shortHtml_chars) : await inThread(asked),
  }),
  {
    maxSize: 8 * 1024 * 1024,
    maxEntrySize: 1024 * 1024,
    sizeCalculation: ({ html }) => 200 + (html?.length ?? 0),
  },
);

/** The renderer, loaded when a text is first shown: with its filter and the plug-ins of the parser it takes 1 to 2 MB of a server at rest. */
const filteredHtml: typeof import('./rendering.ts').filteredHtml = async (...of) =>
  (await import('./rendering.ts')).filteredHtml(...of);

/** Identifies references with the same target. */
const keyOfReference = ({ kind, path, value }: Reference): string => JSON.stringify([kind, path, value]);

async function linksIn(text: string, linkOf: TextContext['linkOf']): Promise<ToRender['links']> {
  if (!linkOf) return [];
  const links = new Map<string, string>();
  for (const reference of await referencesIn(text)) {
    const href = linkOf(reference);
    if (href !== undefined) links.set(keyOfReference(reference), href);
  }
  return [...links];
}

/** Renders a text. @returns undefined if its HTML is longer than `maximumHtml_chars` */
export function renderedHtml(
  { text, links, context }: ToRender,
  maximumHtml_chars: number,
): Promise<string | undefined> {
  const hrefs = new Map(links);
  const linkOf = (reference: Reference) => hrefs.get(keyOfReference(reference));
  return filteredHtml(text, { ...context, linkOf }, { maximumHtml_chars });
}

/**
 * A whole text, in paragraphs. One that takes too long is shown as written.
 * @param context as a function, it is called if the text is rendered
 * @param owner the owner of the text, or the client: owners of long ones take turns
 * @throws TooMuchWaiting when a hundred long ones of the owner are waiting
 */
export async function toHtml(
  text: string,
  context: TextContext | (() => Promise<TextContext>) = {},
  owner: number | string = currentOwner(),
): Promise<string> {
  if (text.length > maximum_chars) return toPlainHtml(text);
  const { linkOf, ...others } = typeof context === 'function' ? await context() : context;
  const request = { text, links: await linksIn(text, linkOf), context: others };
  const answer = await rendered.fetch(hash('sha256', JSON.stringify(request)), { context: { request, owner } });
  return answer?.html ?? toPlainHtml(text);
}

/** A text of one paragraph, without the paragraph element, such as the description of a label; a long one as written. */
export const toInlineHtml = async (text: string, context: TextContext = {}): Promise<string> =>
  (text.length <= short_chars
    ? await filteredHtml(text, context, { isInline: true, maximumHtml_chars: shortHtml_chars })
    : undefined) ?? asWritten(text);
