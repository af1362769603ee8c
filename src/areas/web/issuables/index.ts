/** The pages that issues, epics and merge requests share. */
export { deletionPages } from './deletion_pages.ts';
