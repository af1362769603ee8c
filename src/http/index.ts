/** What areas write endpoints with. */
export * from './endpoint.ts';
export * from './errors.ts';
export * from './filters.ts';
export { allOrNoneOf, atLeastOneOf, exactlyOneOf, mutuallyExclusive, type Rule } from './input.ts';
export { escapeHtml, type HtmlPage, type HtmlPart, sendPage } from './pages.ts';
export * from './paginate.ts';
export { type Offering, type Plan, reaches } from './plans.ts';
export * from './reply.ts';
export { isFoundIn } from './search.ts';
export { descriptionReasons, titleReasons, tooLong } from './texts.ts';
export * from './types.ts';
export type { UploadedFile } from './upload.ts';
