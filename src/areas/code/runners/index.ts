/** The interface of runners to other districts. */
export { JobRunner, presentJobRunner, RunnerStatus, statusOf } from './present.ts';
export { type RunnerType, runnerTypes, stale_days, statuses } from './rules.ts';
