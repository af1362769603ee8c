/** What other areas may use of the removal of users. */
export { removeUser, requestRemoval, scheduleRemoval, scheduleRemovalOfOrphans } from './removal_actions.ts';
