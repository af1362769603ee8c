/** What others may use of copies. */
export { keepChecksums, primaryPolls } from './checksum_jobs.ts';
export { copyPolls } from './copy_jobs.ts';
export { parts, type Replicable, replicables } from './definition.ts';
export { replicaRoutes } from './http.ts';
export { recordsOf } from './record_queries.ts';
export { verifySoon } from './verification_actions.ts';
