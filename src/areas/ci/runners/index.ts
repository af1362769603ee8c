/** The interface of runners to other districts. */
export { runnerDoors, runnerDoorway } from './http.ts';
export { forgetSilentManagers } from './jobs.ts';
