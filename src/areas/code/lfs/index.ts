/** What other areas may use of large files. */
export { grantLfs } from './access.ts';
export { importObject, shareObjects, storeObject } from './actions.ts';
export { sshCredential } from './batch_actions.ts';
export { lfsDoorways, lfsUrl } from './http.ts';
export { removeUnusedObjects } from './jobs.ts';
export { linkObjects } from './link_actions.ts';
export { lockedPaths, missingObjects } from './push_checks.ts';
export { blobOf, isLfsEnabled, largeFileReader, objectOf, objectsOf, readObject } from './queries.ts';
export { type LfsFile, pointerIn } from './rules.ts';
