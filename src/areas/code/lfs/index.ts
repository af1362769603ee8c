/** The interface of large files to other districts. */
export { importObject, shareObjects } from './actions.ts';
export { lfsDoorways, lfsUrl } from './http.ts';
export { removeUnusedObjects } from './jobs.ts';
export { linkObjects } from './link_actions.ts';
export { blobOf, lfsFiles, objectsOf } from './queries.ts';
export { pointerIn } from './rules.ts';
