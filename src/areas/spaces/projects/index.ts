/** What other areas may use of projects. */

export { ProjectIdentity, projectIdentityJson } from '../../people/namespaces/project_present.ts';
export { createProject, type NewProject } from './actions.ts';
export { removeMarkedProjects, removeProject } from './deletion_actions.ts';
export { copyFork } from './fork_actions.ts';
export {
  ProjectBasicForm,
  ProjectForm,
  ProjectWithAccessForm,
  presentProject,
  presentProjectBasic,
  presentProjectWithAccess,
} from './present.ts';
export { type ProjectRow, projectRow, projectRows, visibleProjectRows } from './queries.ts';
export { transferProject } from './transfer_actions.ts';
