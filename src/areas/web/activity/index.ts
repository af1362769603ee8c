/** What happened in a project. */
export { activityPage } from './pages.ts';
