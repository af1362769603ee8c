/** What others may use of migrations by direct transfer. */
export { brokenImportTokens } from './token_queries.ts';
