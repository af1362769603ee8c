/** The interface of references in Markdown to other districts. */
export { linksFor, wikiPageHtml } from './queries.ts';
export { pairsMeant, thingsNamed } from './reference_queries.ts';
