/** Large files by key, outside the database. Knows nothing of ours. */
export { diskBlobs } from './disk.ts';
export * from './types.ts';
