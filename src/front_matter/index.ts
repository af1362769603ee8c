/** Front matter of pages. */
export { type FrontMatter, longestFrontMatter_bytes } from './parts.ts';
export { frontMatterOf } from './reading.ts';
