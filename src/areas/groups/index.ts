/** What other areas may use of groups. */
export { createGroup, type GroupChanges, type NewGroup, updateGroup } from './actions.ts';
