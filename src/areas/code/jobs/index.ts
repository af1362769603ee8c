/** What other areas may use of jobs. */
export { Job } from './present.ts';
