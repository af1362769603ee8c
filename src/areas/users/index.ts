/** What other areas may use of users. */
export { createUser, type NewUser } from './actions.ts';
export { presentUserBasic, UserBasic, userBasicColumns } from './present.ts';
