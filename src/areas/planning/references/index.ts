/** References to what moves, and whose rows they are in. */
export { isOwnedBy, ownersByTable } from './inside_queries.ts';
export { leaveFormerGroups } from './transfer_actions.ts';
