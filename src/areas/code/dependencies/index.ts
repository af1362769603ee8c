/** The interface of dependencies to other districts. */

export { writeDependencyExport } from './export_actions.ts';
export { dependencyExportFiles } from './export_queries.ts';
export { dependencyFollower, keepDependencies, scanDependencies, scanSoon } from './jobs.ts';
export { Dependency } from './present.ts';
export { type Report, removeReportsOf, replaceReports } from './report_actions.ts';
export { GroupDependency } from './routes.ts';
export { dependencyPathReasons } from './rules.ts';
export { readCommitDependencies } from './snapshot_jobs.ts';
export { broughtBetween } from './snapshot_queries.ts';
