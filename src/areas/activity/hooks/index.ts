/** The interface of hooks to other districts. */
export { type HookItem, hookItem, type Sample, sampled } from './definition.ts';
export { announceComposedEvents, announceEvents, removeOldHookEvents, sendHookDeliveries } from './jobs.ts';
export {
  avatarOf,
  HookGroup,
  HookPerson,
  HookProject,
  HookRepository,
  presentPerson,
  presentProject,
  presentRepository,
} from './part_present.ts';
export { groupRow, type PersonRow, type ProjectRow, personRow, personRows, projectRow } from './part_queries.ts';
export { brokenHooks } from './queries.ts';
export { authored, gainedBy, HookCommit, headOfPush, oneCommit, presentAuthored, text } from './repository_present.ts';
export { hookRoutes } from './routes.ts';
