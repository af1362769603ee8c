/** Reading lists of any kind: first the ids of a page, from indexes where possible, then the replies for these only. */
import { sql } from 'kysely';
import { countingEach, countRows, customPlan, type Database } from '../../../db/index.ts';
import {
  beginningOf,
  endOf,
  listNamed,
  type Page,
  type Paging,
  pageBeyond,
  readBehind,
  rememberMarks,
  totalOf,
} from '../../../http/index.ts';
import { countingOf, nameOf } from './count_queries.ts';
import { ofPlaces, type Selection, within } from './match_queries.ts';
import { idsOfPage } from './page_queries.ts';
import { all, type Part, wholeKeys } from './part_queries.ts';

/**
 * A page of a list.
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
  const { ids, total, last, marked } = await readBehind(cursor, () => idsOfPage(db, selection, parts, start));
  rememberMarks(db, start, marked ?? [], keys);
  const has_more = ids.length > per_page;
  const shown = ids.slice(0, per_page);
  const [items, counted] = await Promise.all([
    present(shown),
    totalOf({ start, shown: shown.length, has_more }, async (most) => total ?? count(most)),
  ]);
  const end = endOf(db, start, has_more ? last : undefined, keys);
  return { items, page, per_page, has_more, ...end, ...counted };
}

interface StateCounts {
  all: number;
  closed: number;
  opened: number;
}

const countEach = countingEach<StateCounts>(({ all: total }) => total);

/** How many there are in each state. */
export async function countByState(db: Database, selection: Selection): Promise<StateCounts> {
  const counting = sql<Omit<StateCounts, 'all'>>`${customPlan}
    select count(*) filter (where state = 'opened') as opened, count(*) filter (where state = 'closed') as closed
      from ${sql.table(selection.kind.table)} where ${all([ofPlaces(selection), ...within(selection)])}`;
  const [counts] = await countEach(
    db,
    [counting],
    () => listNamed(counting.compile(db)),
    async () => {
      const { opened, closed } = (await counting.execute(db)).rows[0]!;
      return [{ all: opened + closed, closed, opened }];
    },
  );
  return counts!;
}
