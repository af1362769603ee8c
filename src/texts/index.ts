/** Texts: their limits, searching them, and escaping them. */
export { escapeHtml } from './html.ts';
export { descriptionReasons, titleReasons, tooLong } from './rules.ts';
export { isFoundIn } from './search.ts';
