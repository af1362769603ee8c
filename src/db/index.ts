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
export type { DB } from './schema.ts';
export { isUnavailable } from './unavailable.ts';
