/** What other areas may use of hooks. */
export type { Sample } from './definition.ts';
export { groupFacts, labelsFacts, pageFacts, peopleFacts, personFacts, projectFacts, repositoryFacts } from './facts_queries.ts';
export { awardedFacts, issueFacts, type MergeRequestNews, mergeRequestFacts, noteFacts } from './item_queries.ts';
export { announceEvents, removeOldHookEvents, sendHookDeliveries } from './jobs.ts';
export { brokenHooks } from './queries.ts';
export { hookRoutes } from './routes.ts';
