/** Links of groups with providers, for other districts. */
export { syncGroupLinks, syncLinkedDirectory } from './jobs.ts';
export { followGroups } from './sync_actions.ts';
