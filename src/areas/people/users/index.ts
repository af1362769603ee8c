/** What other areas may use of users. */
export { changeUser, createUser, type NewUser } from './actions.ts';
export { ghostUser } from './ghost_actions.ts';
export { presentUserBasic, UserBasic, type UserBasicRow, userBasicColumns, userBasicJson } from './present.ts';
export { userIdNamed } from './queries.ts';
export { passwordReasons, personNameReasons } from './rules.ts';
