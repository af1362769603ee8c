/** Members of projects and groups. */
export { memberPages } from './pages.ts';
