/** Mail about changes of how people sign in. */
export { tellOwner } from './jobs.ts';
