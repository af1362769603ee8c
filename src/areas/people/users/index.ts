/** The interface of users to other districts. */
export { changeUser, createUser } from './actions.ts';
export { countOwned, handOver } from './contribution_actions.ts';
export { UserBasic } from './fields.ts';
export { tellOfUser } from './hook_actions.ts';
export { ghostUser, securityPolicyBot } from './internal_actions.ts';
export { deactivateDormantUsers } from './jobs.ts';
export { blockUser, unblockUser } from './moderation_actions.ts';
export {
  presentUserBasic,
  presentUserForAdmin,
  User,
  type UserBasicRow,
  UserForAdmin,
  userBasicColumns,
  userBasicJson,
} from './present.ts';
export { listUsers, userIdNamed, userInFull } from './queries.ts';
export { removeUser, requestRemoval, scheduleRemoval, scheduleRemovalOfOrphans } from './removal_actions.ts';
export { passwordReasons, personNameReasons } from './rules.ts';
