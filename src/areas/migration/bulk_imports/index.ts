/** What others may use of migrations by direct transfer. */
export { bulkImportWork } from './jobs.ts';
export { brokenImportTokens } from './token_queries.ts';
