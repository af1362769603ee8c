/** The interface of migrations by direct transfer to other districts. */
export { bulkImportWork } from './jobs.ts';
export { brokenImportTokens } from './source/token_queries.ts';
