/** What other areas may use of members. */
export { addMembers, changeMember, type NewMembers, type Refusal, removeMember } from './actions.ts';
export { removeExpiredMemberships } from './jobs.ts';
export { isLocked, sourceOf } from './queries.ts';
export { type Actor, expiryReasons, mayManage, type Source } from './rules.ts';
