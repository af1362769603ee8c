/** What other areas may use of users. */
export { createUser, type NewUser } from './actions.ts';
export { ghostUser } from './ghost.ts';
export { presentUserBasic, UserBasic, type UserBasicRow, userBasicColumns } from './present.ts';
