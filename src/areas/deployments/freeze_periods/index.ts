/** What other areas may use of freeze periods. */
export { freezeStateOf } from './queries.ts';
