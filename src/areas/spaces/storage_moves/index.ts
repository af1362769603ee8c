/** The interface of storage moves to other districts. */
export { scheduleMoves } from './bulk_jobs.ts';
export { continueMoves, moveRepositories } from './jobs.ts';
export { watchSwitches } from './switch_actions.ts';
