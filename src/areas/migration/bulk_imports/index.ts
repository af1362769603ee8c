/** What others may use of migrations by direct transfer. */
export { bulkImportWork } from './jobs.ts';
export { brokenImportTokens } from './source/token_queries.ts';
