/** What other areas may use of freeze periods. */
export { freezeStateOf } from './queries.ts';
export { freezePeriods } from './relation.ts';
