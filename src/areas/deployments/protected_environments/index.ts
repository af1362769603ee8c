/** The interface of protected environments to other districts. */
export { protectedEnvironments } from './relation.ts';
