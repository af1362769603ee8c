/** The elements around the content of pages. */
export { dismissalPage, manifestPage } from './pages.ts';
export { houseOf } from './queries.ts';
export { sectionsOf } from './section_rules.ts';
