/** The first page. */
export { homePage } from './pages.ts';
