/** What other areas may use of the removal of users. */
export { removeUser, scheduleRemoval } from './actions.ts';
