/** What other areas may use of large files. */
export { shareObjects } from './actions.ts';
export { lfsDoorways, lfsUrl } from './http.ts';
export { removeUnusedObjects } from './jobs.ts';
export { lockedPaths, missingObjects } from './push_check_rules.ts';
export { isLfsEnabled, largeFileReader, objectOf, objectsOf, readObject } from './queries.ts';
export { type LfsFile, pointerIn } from './rules.ts';
