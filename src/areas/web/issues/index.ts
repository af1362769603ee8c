/** The pages of issues. */
export { editIssuePage, newIssuePage } from './edit_pages.ts';
export { issueListPages } from './list_pages.ts';
export { moveIssuePage } from './move_pages.ts';
export { issuePage, workItemPage } from './pages.ts';
