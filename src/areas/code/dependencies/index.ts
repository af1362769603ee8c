/** What other areas may use of dependencies. */

export { keepDependencies, scanDependencies } from './jobs.ts';
export { dependencyPathReasons } from './rules.ts';
