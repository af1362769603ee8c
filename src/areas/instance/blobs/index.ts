/** What other areas may use of blobs. */
export { removeUnusedBlob, storeBlob, useBlob } from './actions.ts';
export { removeUnusedBlobs } from './jobs.ts';
