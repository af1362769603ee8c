/** What other areas may use of costly files. */
export { costlyAmong, noteCostly } from './actions.ts';
export { forgetCostlyFiles } from './jobs.ts';
