/** The interface of jobs to other districts. */
export { Job, jobPage, jobReply } from './present.ts';
