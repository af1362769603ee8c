/** What other areas may use of the limits of the server. */
export { exceededStorage, limitsOf } from './queries.ts';
