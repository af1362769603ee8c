/** The interface of members to other districts. */
export { addMembers, changeMember } from './actions.ts';
export { removeExpiredMemberships } from './jobs.ts';
export { Member } from './present.ts';
export { actorNow, isLocked, lockedSource, originsOf } from './queries.ts';
export { refusalText } from './refusal_rules.ts';
export { removeMember } from './removal_actions.ts';
export { hasSeatsFor } from './seat_queries.ts';
