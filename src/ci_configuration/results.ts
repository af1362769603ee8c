/** Results without jobs. */
import type { CompileResult } from './types.ts';

/** @param errors for people */
export const withoutJobs = (errors: string[]): CompileResult => ({
  errors,
  warnings: [],
  includes: [],
  merged_yaml: null,
  jobs: [],
  workflow: { auto_cancel: {} },
  variables: [],
  stages: [],
});
