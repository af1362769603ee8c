/** What other areas may use of projects. */
export { createProject, type NewProject } from './actions.ts';
