/** The interface of jobs to other districts. */
export { Job } from './present.ts';
