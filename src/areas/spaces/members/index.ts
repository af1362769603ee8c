/** What other areas may use of members. */
export { addMembers, changeMember, refuseAbove } from './actions.ts';
export { tellOfRequests } from './hook_actions.ts';
export { removeExpiredMemberships } from './jobs.ts';
export { Member, MemberQueued, memberReply, queuedReply } from './present.ts';
export { actorNow, isDirect, isLocked, lockedSource } from './queries.ts';
export { noSeatsText, type Refusal, refusalText, textsOf } from './refusal_rules.ts';
export { removeEverywhere, removeMember } from './removal_actions.ts';
export { removeAccessRequests } from './request_actions.ts';
export { checkRole, type Grant } from './role_checks.ts';
export { type Actor, isAbove, lastOwnerText, mayManage, memberTexts, roleName, type Source } from './rules.ts';
export { hasSeatsFor } from './seat_queries.ts';
export { asSubtree, everyone, type Granted, managers, sourceFor } from './source_access.ts';
