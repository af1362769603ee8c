/** Changing files of a repository. */
export { fileEditingPages } from './pages.ts';
