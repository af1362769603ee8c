/** What other areas may use of blobs. */
export { storeBlob, useBlob } from './actions.ts';
export { removeUnusedBlobs } from './jobs.ts';
