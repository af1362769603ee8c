/** The total of a list on one of its pages. */
import { ApiError, type Page, tooFar } from '../http/index.ts';
import type { Start } from './paging.ts';
import { thresholds } from './thresholds.ts';

/**
 * The number of rows of a list, if there are few enough to be counted. On the last page and on a page after the last row that is counted, it is known without
 * counting, unless the page was reached by a cursor.
 * @param page its start, its rows, and whether more follow
 * @param count counts the rows up to `most`
 */
export async function totalOf(
  { start, shown, has_more }: { start: Pick<Start, 'offset' | 'cursor'>; shown: number; has_more: boolean },
  count: (most: number) => Promise<number>,
): Promise<{ total?: number }> {
  const isKnown = start.cursor === undefined && (shown > 0 || start.offset === 0);
  const known = start.offset + shown;
  const total =
    isKnown && (!has_more || known >= thresholds.counted)
      ? known + Number(has_more)
      : await count(thresholds.counted + 1);
  return total <= thresholds.counted ? { total } : {};
}

/** 405 for a page by number too far behind the beginning of a list without a total. */
export const tooFarBehind = (): ApiError => new ApiError(405, { message: tooFar, error: tooFar });

/**
 * An empty page, far beyond the end of its list.
 * @param count as for `totalOf`
 * @throws ApiError 405 if the list is too long to be counted, because the page then need not be behind its end
 */
export async function pageBeyond(start: Start, count: (most: number) => Promise<number>): Promise<Page<never>> {
  const { page, per_page } = start;
  const { total } = await totalOf({ start, shown: 0, has_more: false }, count);
  if (total === undefined) throw tooFarBehind();
  return { items: [], page, per_page, has_more: false, total };
}
