/** Pages of lists of a table: first the ids of a page, from indexes where possible, then the replies for these only. */
import type { Database } from '../db/index.ts';
import type { Page } from '../http/index.ts';
import { countingOf, nameOf } from './counting.ts';
import { readBehind } from './cursor.ts';
import { beginningOf, endOf, nextOf } from './page_ends.ts';
import { isByKey, type Paging } from './paging.ts';
import { type Part, wholeKeys } from './parts.ts';
import type { Selection } from './selection.ts';
import { pageBeyond, totalOf } from './total_of_page.ts';
import { countRows } from './totals.ts';
import { pageFrom } from './ways.ts';

/**
 * A page of a list.
 * @param parts the parts of its order, first to last
 * @param present turns ids into replies
 * @throws ApiError as `paginate`
 */
export async function pageOfSelection<T>(
  db: Database,
  selection: Selection,
  parts: readonly Part[],
  input: Paging,
  present: (ids: readonly number[]) => Promise<T[]>,
): Promise<Page<T>> {
  const keys = parts.map((part) => wholeKeys(selection.kind, part));
  const start = beginningOf(db, input, () => nameOf(db, selection, keys.flat()));
  const { page, per_page, cursor } = start;
  const count = (most: number) => countRows(db, countingOf(selection, most), most);
  if (start.isBeyond) return pageBeyond(start, count);
  const { ids, total, last } = await readBehind(cursor, () => pageFrom(db, selection, parts, start));
  const has_more = ids.length > per_page;
  const shown = ids.slice(0, per_page);
  const end = endOf(db, start, has_more && last ? last : undefined, keys);
  if (isByKey(input)) return { items: await present(shown), page, per_page, has_more, next: nextOf(end) };
  const [items, counted] = await Promise.all([
    present(shown),
    totalOf({ start, shown: shown.length, has_more }, async (most) => total ?? count(most)),
  ]);
  return { items, page, per_page, has_more, ...end, ...counted };
}
