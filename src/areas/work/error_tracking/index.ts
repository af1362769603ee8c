/** What the server and its jobs use of error tracking. */
export { collectorDoorway } from './collector_http.ts';
export { digestErrors } from './jobs.ts';
export { removeError } from './removal_jobs.ts';
export { forgetOldErrors } from './retention_jobs.ts';
export { sentryDoorway } from './sentry_http.ts';
