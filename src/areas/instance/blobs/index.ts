/** The interface of blobs to other districts. */
export { bytesOf, removeUnusedBlob, storeBlob, useBlob } from './actions.ts';
export { removeUnusedBlobs } from './jobs.ts';
