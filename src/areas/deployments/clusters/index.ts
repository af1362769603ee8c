/** What others may use of clusters. */
export { brokenTokens } from './queries.ts';
