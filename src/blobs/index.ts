/** Large files by key, outside the database. */
export { diskBlobs } from './disk.ts';
export { keyAtPath, newBlobKey, pathOfBlob } from './keys.ts';
export * from './types.ts';
