/** How a text will look. */
import { type Html, html, type PageCall } from '../../../pages/index.ts';
import { textsAsHtml } from '../issuables/present.ts';
import { placeOf } from './place_queries.ts';

/** A text as its page will show it. @param path the pattern of the page on which it is written */
export async function previewOf(call: PageCall, path: string, text: string): Promise<Html> {
  const [shown] = await textsAsHtml(call, await placeOf(path, call), [text]);
  return shown ?? html`<p class="soft">There is nothing to show yet.</p>`;
}
