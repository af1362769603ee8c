/** Large files by key, outside the database. */
export { diskBlobs } from './disk.ts';
export * from './types.ts';
