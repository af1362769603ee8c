/** The pages of errors. */
export { errorPages } from './pages.ts';
