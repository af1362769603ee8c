/** What other areas may use of wikis. */
export type { RenderPage } from './definition.ts';
export { sampleWikiPage } from './hook_actions.ts';
export { wikiRepositories } from './kind.ts';
export { wikiUrl } from './present.ts';
