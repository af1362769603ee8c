/** What areas write endpoints with. */

export { escapeHtml, type HtmlPage, type HtmlPart, sendPage } from '../pages/page.ts';
export { descriptionReasons, titleReasons, tooLong } from '../texts/rules.ts';
export { isFoundIn } from '../texts/search.ts';
export * from './endpoint.ts';
export * from './errors.ts';
export * from './filters.ts';
export { allOrNoneOf, atLeastOneOf, exactlyOneOf, mutuallyExclusive, type Rule } from './input.ts';
export * from './paginate.ts';
export { type Offering, type Plan, reaches } from './plans.ts';
export * from './reply.ts';
export * from './types.ts';
export type { UploadedFile } from './upload.ts';
