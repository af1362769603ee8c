/** What other areas may use of issues. */

export { startMergeRequest } from './branch_actions.ts';
export { changeIssue } from './change_actions.ts';
export { createIssue } from './creation_actions.ts';
export { tellOfDueIssues } from './due_jobs.ts';
export { LinkedIssueReply } from './links/routes.ts';
export { milestoneIdFilter } from './lists/filters.ts';
export { orderIn } from './lists/order_rules.ts';
export { anyScope, boardFilters, listRules, nonArchived } from './lists/parameters.ts';
export { countIssues, issuesAmong, type Listing, listIssues } from './lists/queries.ts';
export { IssueStatistics } from './lists/routes.ts';
export { metricImageDoorway } from './metric_images/file_routes.ts';
export { metricImageFiles } from './metric_images/queries.ts';
export { issueNoun } from './noteable.ts';
export { changesFrom, newIssueFrom } from './parameters.ts';
export { Issue, type IssueReply, presentSingleIssue } from './present.ts';
export { issues } from './relation.ts';
export { rollIssuesOver } from './roll_over_jobs.ts';
export { updateIssue } from './update_actions.ts';
