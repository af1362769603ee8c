/** The interface of issues to other districts. */

export { BurndownEvent } from './burndown/queries.ts';
export { tellOfDueIssues } from './due_jobs.ts';
export { EpicIssue } from './epics/routes.ts';
export { issueFields } from './fields.ts';
export { LinkedIssueReply } from './links/routes.ts';
export { IssueStatistics } from './lists/routes.ts';
export { metricImageDoorway } from './metric_images/file_routes.ts';
export { metricImageFiles } from './metric_images/queries.ts';
export { MetricImage } from './metric_images/routes.ts';
export { issueNoun } from './noteable.ts';
export { Issue, type IssueReply } from './present.ts';
export { issues } from './relation.ts';
export { rollIssuesOver } from './roll_over_jobs.ts';
