export { columnsOf } from './columns.ts';
export {
  connect,
  type Database,
  isDataException,
  isForeignKeyViolation,
  isIntegrityViolation,
  isRefusedWrite,
  isUniqueViolation,
  listenTo,
  onAudited,
  onIdleLoss,
  poolDelays,
  poolLoad,
  refusedByMove,
} from './connect.ts';
export { dataLoader, isAmong, ofAnyLength } from './data_loader.ts';
export { eachRow } from './each_row.ts';
export { hostsOf } from './host_addresses.ts';
export { HostClient } from './hosts.ts';
export { iidTaken, type NumberOwner, type NumberUsage, nextIid, nextIids, raiseIid } from './internal_ids.ts';
export {
  type Built,
  membersInJson,
  objectInJson,
  type Parts,
  plainColumns,
  rowInJson,
  rowsInJson,
} from './json_rows.ts';
export { isOutOfTime, limitedTo, originOf } from './limited.ts';
export { customPlan } from './prepared.ts';
export {
  copyReferences,
  isFree,
  type Reference,
  referencesTo,
  releaseReferences,
  replaceReferences,
} from './references.ts';
export { repeated } from './repeated.ts';
export type { DB } from './schema.ts';
export { stamped } from './stamped.ts';
export { type Slots, statement } from './statement.ts';
export { takeTurn } from './turns.ts';
export { hasLostDatabase, isUnavailable, OnStandby } from './unavailable.ts';
export { momentInJson } from './values.ts';
