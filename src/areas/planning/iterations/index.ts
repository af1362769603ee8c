/** The interface of iterations to other districts. */

export { rollOver } from './actions.ts';
export { advanceIterations } from './jobs.ts';
export { Iteration, IterationCadence, type IterationRow, presentIteration } from './present.ts';
export { isIterationFor, iterationAt, iterationFor, iterationRows, iterationsById } from './queries.ts';
export { iterationCadences, iterationReference } from './relation.ts';
