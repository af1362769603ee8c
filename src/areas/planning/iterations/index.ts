/** What other areas may use of iterations. */

export { rollOver } from './actions.ts';
export { advanceIterations } from './jobs.ts';
export { Iteration, type IterationRow, presentIteration } from './present.ts';
export { isIterationFor, iterationAt, iterationFor, iterationRows, iterationsById } from './queries.ts';
export { iterationCadences, iterationReference } from './relation.ts';
