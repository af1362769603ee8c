/** What other areas may use of projects. */

export { createProject, type NewProject } from './actions.ts';
export { namespaceFor, namespacesFor } from './creation_actions.ts';
export { discardProject, removeMarkedProjects, removeProject } from './deletion_actions.ts';
export { fixed, noPipelines } from './fixed_present.ts';
export { copyFork, leadFork } from './fork_actions.ts';
export { addUpOpenIssues } from './jobs.ts';
export { projectMail } from './mail_queries.ts';
export {
  completeRows,
  ProjectBasicForm,
  ProjectForm,
  ProjectWithAccessForm,
  presentPermissions,
  presentProject,
  presentProjectBasic,
  presentProjectPage,
  statisticsFields,
  unstoredSizes,
} from './present.ts';
export { groupStatistics, visibleProjectRows } from './queries.ts';
export { projectFeatures, projectSelf } from './relation.ts';
export { columnsOfSettings, FeatureLevel, mayCreateIn, settings as projectSettings } from './rules.ts';
export { Starrer } from './star_routes.ts';
export { transferProject } from './transfer_actions.ts';
