/** The interface of relation exports to other districts. */
export { continueExports, removeExpiredExports, writeRelationExport } from './jobs.ts';
export { relationExportFiles } from './queries.ts';
