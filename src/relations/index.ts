/** How records leave and arrive: descriptions, and what writes and reads lines by them. */
export { arriving } from './arrival.ts';
export type { Arrival, Arrived, ArrivedRecord, ArrivingRelation, RecordCount, RecordFailure } from './arriving.ts';
export { leaving, leavingSelf } from './departing.ts';
export type { ArrivingRow, Member, Members, RecordKind, Relation, Waiting } from './description.ts';
export type { Batch, Departure, ExportedRelation, RelationOwner } from './exported.ts';
export { completeGroups, grantsOf, refuseStrange } from './granting.ts';
export {
  account,
  column,
  columnOr,
  group,
  late,
  lenient,
  part,
  parts,
  person,
  reference,
  required,
  requiredAccount,
  shown,
  somebody,
} from './members.ts';
export { peopleOf } from './people.ts';
export {
  choice,
  choiceOf,
  coded,
  day,
  flag,
  integer,
  isText,
  long,
  markdown,
  Refusal,
  real,
  sha,
  spelled,
  text,
  texts,
  time,
  type Value,
} from './values.ts';
export { settleWaiting } from './waiting.ts';
