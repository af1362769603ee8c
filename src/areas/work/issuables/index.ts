/** Code shared by issues, epics and merge requests: effects of changes, numbering, participants and time tracking. */
export { sampleIssue, sampleMergeRequest } from './hook_actions.ts';
export { issueHook, mergeRequestHook } from './hook_queries.ts';
export { linksOf } from './links/relation.ts';
export { peopleRoutes } from './people_routes.ts';
export { timeRoutes } from './time/routes.ts';
export { notificationPages } from './unsubscribe_pages.ts';
