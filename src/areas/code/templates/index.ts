/** What other areas may use of templates. */
export { AnyTemplate, templateRoutes } from './routes.ts';
