/** The interface of running pipelines to other districts. */
export { processAgain, startDelayed } from './process_actions.ts';
export { pipelineFollower, startForPush } from './push_jobs.ts';
