/** What other areas may use of issues. */
export type { Acting } from '../issuables/change_actions.ts';
export { countIssues, type Listing, listIssues } from '../issuables/list_queries.ts';
export { issueOperations } from './command_actions.ts';
export { addLink, isLinkable, type LinkedIssue, type LinkType, removeLink, visibleIssues } from './links.ts';
export { removeUnusedBlobs } from './metric_image_actions.ts';
export { metricImageFiles } from './metric_image_files.ts';
export { Issue, type IssueReply, issueFields, presentIssues, presentSingleIssue } from './present.ts';
export { referenceTo } from './reference_rules.ts';
