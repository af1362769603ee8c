/** The interface of costly files to other districts. */
export { costlyAmong, noteCostly } from './actions.ts';
export { forgetCostlyFiles } from './jobs.ts';
