/** The interface of configurations of pipelines to other districts. */
export { LintResult } from './present.ts';
