/** The interface of jobs that runners execute to other districts. */

export { measureCoverage } from './coverage_jobs.ts';
export { jobDoors, jobDoorways } from './http.ts';
export { endOverdueJobs, removePipelineRefs } from './jobs.ts';
export { jobTokenRoutes } from './routes.ts';
export type { ReleasePreparation } from './success_actions.ts';
export { waitingIn } from './waiting_actions.ts';
