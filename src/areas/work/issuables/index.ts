/** Code shared by issues, epics and merge requests: effects of changes, numbering, participants and time tracking. */

export { sampleIssue, sampleMergeRequest } from './hooks/actions.ts';
export { issueEvent, issueHook } from './hooks/issue_present.ts';
export { mergeRequestEvent, mergeRequestHook } from './hooks/merge_request_present.ts';
export { linksOf } from './links/relation.ts';
export { peopleRoutes } from './people_routes.ts';
export { timeRoutes } from './time/routes.ts';
export { notificationPages } from './unsubscribe_pages.ts';
