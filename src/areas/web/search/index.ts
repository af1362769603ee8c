/** The search page. */
export { searchPage } from './pages.ts';
