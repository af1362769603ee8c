/** What other areas may use of members. */
export { addMembers, changeMember, type NewMembers, type Refusal, removeMember } from './actions.ts';
export { removeExpiredMemberships } from './jobs.ts';
export { Member, memberReply } from './present.ts';
export { counts, isDirect, isLocked, lockedSource, sourceOf } from './queries.ts';
export { type Actor, expiryReasons, mayManage, type Source } from './rules.ts';
export { everyone, type Granted, managers, placeOf, sourceFor } from './source.ts';
