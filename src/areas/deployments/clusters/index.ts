/** The interface of clusters to other districts. */
export { clusterVariables } from './job_queries.ts';
export { brokenTokens } from './queries.ts';
