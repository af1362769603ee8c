/** The interface of experiments to other districts. */
export type { Actor } from './gate_rules.ts';
export { isExperimentOn } from './queries.ts';
