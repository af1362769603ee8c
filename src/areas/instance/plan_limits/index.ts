/** The interface of the limits of the server to other districts. */
export { exceededStorage, limitsOf } from './queries.ts';
