/** The documentation of the API as pages, generated from its declarations. */
export { apiDocsPages } from './pages.ts';
