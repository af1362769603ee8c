/** What other areas may use of clusters. */
export { brokenTokens } from './queries.ts';
