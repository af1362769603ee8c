/** The interface of secure files to other districts. */
export { secureFiles } from './queries.ts';
export { secureFileRoutes } from './routes.ts';
