/** The interface of jobs to other districts. */
export { Job, jobPage, jobReply, jobsOf, presentJobs } from './present.ts';
