/** What other areas may use of large files. */
export { shareObjects } from './actions.ts';
export { removeUnusedObjects } from './jobs.ts';
export { lfsOverHttp, lfsUrl } from './lfs_http.ts';
export { missingObjects } from './push_check.ts';
export { isLfsEnabled, objectOf, readObject } from './queries.ts';
export { type LfsFile, pointerIn } from './rules.ts';
