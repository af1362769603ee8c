/** Large files by key, outside the database. */
export { diskBlobs } from './disk.ts';
export { keyAtPath, newBlobKey, pathOfBlob } from './keys.ts';
export { s3Blobs } from './s3.ts';
export * from './types.ts';
