/** The interface of clusters to other districts. */
export { brokenTokens } from './queries.ts';
