/** Feeds of lists, for programs that follow them. */
export { feedPages } from './pages.ts';
