/** What the pages have around them. */
export { dismissalPage, manifestPage } from './pages.ts';
export { appearanceOf, guidelinesOf, houseOf } from './queries.ts';
export { tabsOf } from './section_rules.ts';
