/** What other areas may use of members. */
export { addMembers, changeMember, type NewMembers, refuseAbove } from './actions.ts';
export { removeExpiredMemberships } from './jobs.ts';
export { removeMember } from './leaving.ts';
export { Member, MemberQueued, memberReply, queuedReply } from './present.ts';
export { counts, isDirect, isInvitable, isLocked, lockedSource, sourceOf } from './queries.ts';
export { noSeatsText, type Refusal, textsOf } from './refusals.ts';
export { checkRole, type Grant } from './roles.ts';
export { type Actor, expiryReasons, isAbove, mayManage, roleKeepsLevel, roleName, type Source } from './rules.ts';
export { hasSeatsFor } from './seats.ts';
export { everyone, type Granted, managers, placeOf, sourceFor } from './source.ts';
