/** The pages of wikis. */
export { wikiPages } from './pages.ts';
