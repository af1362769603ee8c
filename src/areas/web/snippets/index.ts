/** The pages of snippets. */
export { snippetPages } from './pages.ts';
