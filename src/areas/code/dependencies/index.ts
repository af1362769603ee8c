/** What other areas may use of dependencies. */

export { writeDependencyExport } from './export_actions.ts';
export { dependencyFollower, keepDependencies, scanDependencies, scanSoon } from './jobs.ts';
export { dependencyPathReasons } from './rules.ts';
