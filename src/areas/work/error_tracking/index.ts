/** What the server, its jobs and other areas use of error tracking. */
export { collectorDoorway } from './collector_http.ts';
export { errorPage, titleOf } from './error_present.ts';
export { digestErrors } from './jobs.ts';
export { sampleError } from './news_actions.ts';
export { removeError } from './removal_jobs.ts';
export { forgetOldErrors } from './retention_jobs.ts';
export { sentryDoorway } from './sentry_http.ts';
export { chunkDoorway } from './source_maps/http.ts';
export { unpackBundle } from './source_maps/jobs.ts';
