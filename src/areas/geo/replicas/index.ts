/** The interface of copies to other districts. */
export { keepChecksums, primaryPolls } from './checksum_jobs.ts';
export { copyPolls } from './copy_jobs.ts';
export { replicaRoutes } from './http.ts';
export { verifySoon } from './verification_actions.ts';
