/** The interface of projects to other districts. */

export { createProject, type NewProject } from './actions.ts';
export { namespaceFor, namespacesFor } from './creation_actions.ts';
export { discardProject, removeMarkedProjects, removeProject } from './deletion_actions.ts';
export { copyFork, leadFork } from './fork_actions.ts';
export { addUpOpenIssues } from './jobs.ts';
export { projectMail } from './mail_queries.ts';
export { ProjectBasicForm, ProjectWithAccessForm, presentProjectBasic, presentProjectPage } from './present.ts';
export { visibleProjectRows } from './queries.ts';
export { projectFeatures, projectSelf } from './relation.ts';
export { columnsOfSettings, mayCreateIn, settings as projectSettings } from './rules.ts';
export { Starrer } from './star_routes.ts';
export { transferProject } from './transfer_actions.ts';
