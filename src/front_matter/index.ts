/** Front matter of pages. */
export { type FrontMatter, maximumFrontMatter_bytes } from './parts.ts';
export { frontMatterOf } from './reading.ts';
