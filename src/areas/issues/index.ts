/** What other areas may use of issues. */
export type { Acting } from './effects.ts';
export { addLink, isLinkable, type LinkedIssue, type LinkType, removeLink, visibleIssues } from './links.ts';
export { countIssues, type Listing, listIssues } from './list.ts';
export { metricImageFiles } from './metric_image_files.ts';
export { removeUnusedBlobs } from './metric_images.ts';
export { issueOperations } from './operations.ts';
export { Issue, type IssueReply, issueFields, presentIssues, presentSingleIssue } from './present.ts';
export { referenceTo } from './references.ts';
