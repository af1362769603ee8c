/** What other areas may use of blobs. */
export { bytesOf, removeUnusedBlob, storeBlob, useBlob } from './actions.ts';
export { removeUnusedBlobs } from './jobs.ts';
