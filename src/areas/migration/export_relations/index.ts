/** What others may use of relation exports. */
export { continueExports, removeExpiredExports, writeRelationExport } from './jobs.ts';
