/** The interface of logs to other districts. */
export { storeEndedLogs } from './jobs.ts';
export { jobLogFiles } from './queries.ts';
export { logRoutes } from './routes.ts';
