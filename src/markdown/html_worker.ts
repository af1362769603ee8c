/** The thread that `html.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { keyOfReference, type ToRender } from './html.ts';
import type { Reference } from './references.ts';
import { filteredHtml } from './rendering.ts';

/** A few characters can expand to many copies of a long address or a deep list. */
const maximumHtml_chars = 8_000_000;

parentPort!.on('message', async ({ text, links, context }: ToRender) => {
  const hrefs = new Map(links);
  const linkOf = (reference: Reference) => hrefs.get(keyOfReference(reference));
  parentPort!.postMessage(await filteredHtml(text, { ...context, linkOf }, { maximumHtml_chars }));
});
