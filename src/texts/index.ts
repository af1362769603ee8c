/** What texts may be, how they are searched, and how they are shown where nothing of them is markup. */
export { escapeHtml } from './html.ts';
export { descriptionReasons, titleReasons, tooLong } from './rules.ts';
export { isFoundIn } from './search.ts';
