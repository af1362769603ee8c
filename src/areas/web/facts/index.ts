/** Generic pages of facts, for nouns without specific pages. */
export { badgePages } from './badge_pages.ts';
export { codeFactPages } from './code_pages.ts';
export { instanceFactPages } from './instance_pages.ts';
