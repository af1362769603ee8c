/** The interface of running pipelines to other districts. */

export { failRejected, stopByJob } from './environment_jobs.ts';
export { type BuiltMergeRequest, createForMergeRequest, startForMergeRequest } from './merge_request_actions.ts';
export { processAgain, startDelayed } from './process_actions.ts';
export { pipelineFollower, startForPush } from './push_jobs.ts';
export { openOnesOf } from './queries.ts';
export { moveStanding } from './standing_jobs.ts';
export { ciState, standingPipelines } from './standing_queries.ts';
export { startRefusals } from './start_actions.ts';
