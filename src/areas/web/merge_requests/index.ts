/** The pages of merge requests. */
export { mergeRequestCommitsPage } from './commit_pages.ts';
export { mergeRequestConflictsPage } from './conflict_pages.ts';
export { mergeRequestDiffPage, mergeRequestDiffsPage } from './diff_pages.ts';
export { editMergeRequestPage } from './edit_pages.ts';
export { mergeRequestListPages } from './list_pages.ts';
export { newMergeRequestPage } from './new_pages.ts';
export { mergeRequestPage } from './pages.ts';
export { mergeRequestPipelinesPage } from './pipeline_pages.ts';
export { relatedPage } from './related_pages.ts';
export { mergeRequestRulesPage } from './rule_pages.ts';
