/** The first page, and all projects. */
export { homePages } from './pages.ts';
