/** Fields of nouns: what one is, and what is read off a record of them. */
export type { ChangesOf, Field, Fields, GivenOf, RowOf } from './field.ts';
export {
  type Changed,
  columnNames,
  columnsOf,
  controlsOf,
  creationOf,
  editOf,
  givenColumns,
  hookChanges,
  hookMembers,
  inOrder,
  membersOf,
  pick,
  replyOf,
  shownOf,
  valuesOf,
} from './read_off.ts';
