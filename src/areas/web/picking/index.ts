/** Putting the changes of a commit onto a branch again, and taking them back. */
export { pickPages } from './pages.ts';
