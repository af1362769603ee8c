/** Lists in pages: finding a page, counting rows, and locating the next page. */
export {
  type Position,
  readBehind,
  readCursor,
  type SortKey,
} from './cursor.ts';
export { paginateByKey } from './keyset.ts';
export { beginningOf, endOf, listNamed } from './page_ends.ts';
export { idsOnPage, rowsOf } from './page_of_query.ts';
export { pageOfSelection } from './page_of_selection.ts';
export * from './paginate.ts';
export {
  gitPaging,
  isByKey,
  keysetPaging,
  keysetUnavailable,
  numberedPaging,
  type Paging,
  pageAsked,
  paging,
  startOf,
} from './paging.ts';
export type { Part, Sort } from './parts.ts';
export {
  bounded,
  type Filter,
  isRead,
  narrow,
  type Predicate,
  type Selection,
  type View,
  varying,
  wide,
} from './selection.ts';
export { pageBeyond, tooFarBehind, totalOf } from './total_of_page.ts';
export { countedUpTo, countingEach } from './totals.ts';
