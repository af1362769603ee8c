/** Blame of files. */
export { blamePageList } from './pages.ts';
