export { columnsOf } from './columns.ts';
export {
  type Connect,
  connect,
  type Database,
  isDataException,
  isForeignKeyViolation,
  isUniqueViolation,
  poolLoad,
} from './connect.ts';
export { inBatches, ofAnyLength } from './data_loader.ts';
export { claimIid, type NumberOwner, type NumberUsage, nextIid, nextIids } from './internal_ids.ts';
export { plannedAnew } from './prepared.ts';
export type { DB } from './schema.ts';
export { isUnavailable } from './unavailable.ts';
