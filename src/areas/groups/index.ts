/** What other areas may use of groups. */
export { createGroup, type NewGroup } from './actions.ts';
