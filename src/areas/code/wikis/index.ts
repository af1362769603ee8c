/** The interface of wikis to other districts. */
export { fillWiki } from './arrival_actions.ts';
export type { RenderPage } from './definition.ts';
export { eventWikiPages } from './event_queries.ts';
export { repositoryOfWiki } from './git.ts';
export { WikiPageVersion } from './history_routes.ts';
export { sampleWikiPage } from './hook_actions.ts';
export { wikiPageEvent, wikiUpdateEvent } from './hook_present.ts';
export { planOfGroups, wikiRepositories } from './kind.ts';
export { WikiPageForm, wikiUrl } from './present.ts';
