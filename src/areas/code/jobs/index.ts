/** The interface of jobs to other districts. */
export { jobArtifactFiles } from './artifact_queries.ts';
export { Job, jobPage, jobReply, jobsOf, presentJobs } from './present.ts';
