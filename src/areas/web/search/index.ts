/** The page of searches. */
export { searchPage } from './pages.ts';
