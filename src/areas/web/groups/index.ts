/** Groups, new groups and projects, and people. */

export { newGroupPage, newProjectPage } from './new_pages.ts';
export { groupPageOf } from './pages.ts';
export { personPage, personRedirect } from './person_pages.ts';
