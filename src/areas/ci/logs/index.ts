/** The interface of logs to other districts. */
export { logRoutes } from './routes.ts';
