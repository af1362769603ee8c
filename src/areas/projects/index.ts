/** What other areas may use of projects. */
export { createProject, type NewProject } from './actions.ts';
export {
  ProjectBasicForm,
  ProjectForm,
  ProjectWithAccessForm,
  presentProject,
  presentProjectBasic,
  presentProjectWithAccess,
} from './present.ts';
export { type ProjectRow, projectRow, projectRows, visibleProjectRows } from './queries.ts';
