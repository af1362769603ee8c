/** The interface of hooks to other districts. */
export type { HookItem, Sample } from './definition.ts';
export {
  commitFacts,
  commitPlace,
  eventHead,
  groupFacts,
  hole,
  pageFacts,
  pathInSql,
  peopleFacts,
  personFacts,
  projectFacts,
  repositoryFacts,
  userUrlFacts,
} from './facts_queries.ts';
export { announceEvents, removeOldHookEvents, sendHookDeliveries } from './jobs.ts';
export { brokenHooks } from './queries.ts';
export { hookRoutes } from './routes.ts';
