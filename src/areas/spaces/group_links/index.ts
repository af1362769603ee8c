/** The interface of sharing with groups to other districts. */
export { inviteGroup, uninviteGroup } from './actions.ts';
export { removeExpiredGroupLinks } from './jobs.ts';
export { groupLinks } from './relation.ts';
