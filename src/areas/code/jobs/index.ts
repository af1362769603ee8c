/** The interface of jobs to other districts. */
export { jobArtifactFiles } from './artifact_queries.ts';
export { Bridge, changedJobReply, Job, jobReply, jobsById, jobsOf, presentJobs } from './present.ts';
