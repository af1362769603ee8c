/** The interface of error tracking to other districts. */
export { collectorDoorway } from './collector/http.ts';
export { emptyErrors } from './errors/emptying_queries.ts';
export { eventErrors } from './errors/event_queries.ts';
export { digestErrors, forgetOldErrors } from './errors/jobs.ts';
export { errorMail } from './errors/mail_queries.ts';
export { errorEvent, sampleError } from './errors/news_actions.ts';
export { type ErrorPlace, openErrorPlaces } from './errors/place_queries.ts';
export { ErrorDetails, TrackedError } from './errors/present.ts';
export { removeError } from './errors/removal_jobs.ts';
export { ErrorEvent, ErrorEventDetails } from './events/present.ts';
export { ReleaseHealth } from './releases_health/routes.ts';
export { chunkDoorway } from './sentry/source_map_http.ts';
export { sentryDoorway } from './sentry_http.ts';
export { chunkFiles, sourceMapFiles } from './source_maps/file_queries.ts';
export { unpackBundle } from './source_maps/jobs.ts';
