/** What labels say of themselves. */
import { toInlineHtml } from '../../../markdown/index.ts';

/** Text that is HTML already, in which Markdown has nothing to find: what most labels have, on each row of a list. */
const plain = /^[\p{L}\p{N} ,.]*$/u;

/** The description of a label as HTML. */
export const descriptionHtml = (text: string | null): string | null =>
  text === null || plain.test(text) ? text : toInlineHtml(text);
