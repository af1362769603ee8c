/** Texts: their limits, searching them, escaping them, and numbers in them. */
export { counted, sizeText } from './counts.ts';
export { csvLine } from './csv.ts';
export { escapeHtml } from './html.ts';
export { descriptionReasons, hexColorReasons, isLonger, titleReasons, tooLong } from './rules.ts';
export { containsEach, isFoundIn, readsEveryRow, termsOf } from './search.ts';
