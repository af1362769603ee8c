/** Front matter of pages. */
export { type FrontMatter, jsonOf as jsonOfYaml, maximumFrontMatter_bytes } from './parts.ts';
export { frontMatterOf } from './reading.ts';
