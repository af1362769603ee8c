/** What other areas may use of sharing with groups. */
export { inviteGroup, uninviteGroup } from './actions.ts';
export { removeExpiredGroupLinks } from './jobs.ts';
export { groupLinks } from './relation.ts';
