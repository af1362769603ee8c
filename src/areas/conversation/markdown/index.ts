/** What other areas may use of references in Markdown. */
export { linksFor, wikiPageHtml } from './queries.ts';
export { type Named, pairsMeant, pathMeant, type Surroundings, thingsNamed } from './reference_queries.ts';
