/** What other areas may use of invitations of groups. */
export { inviteGroup, type NewGroupLink, uninviteGroup } from './actions.ts';
export { removeExpiredGroupLinks } from './jobs.ts';
