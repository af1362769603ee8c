/** The interface of templates to other districts. */
export { AnyTemplate, templateRoutes } from './routes.ts';
