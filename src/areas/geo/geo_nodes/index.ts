/** The interface of nodes to other districts. */
export { makeOwnNode } from './actions.ts';
export { takeStatus } from './status/actions.ts';
export { statusPolls } from './status/jobs.ts';
export { healthOf } from './status/present.ts';
export { currentRows, listedRows } from './status/queries.ts';
