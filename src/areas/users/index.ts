/** What other areas may use of users. */
export { createUser, type NewUser } from './actions.ts';
export { ghostUser } from './ghost.ts';
export { presentUserBasic, UserBasic, type UserBasicRow, userBasicColumns, userBasicJson } from './present.ts';
export { userIdNamed } from './queries.ts';
