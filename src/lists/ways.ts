/**
 * How a page of a list is found. The first way whose condition holds is taken; if it finds out that it would cost too much, it gives up, and the next one is.
 *
 * | condition                                                      | way                                      | cost                                         |
 * |----------------------------------------------------------------|------------------------------------------|----------------------------------------------|
 * | a filter may match few rows, and nothing shows that many match | look up what matches, up to 10,000 rows  | 4 µs for each row that matches: up to 40 ms  |
 * | the page ends by the 10,100th row                              | walk the indexes that have the order,    | 1 to 4 µs for each row that is tested:       |
 * |                                                                | up to 4,000 rows, and then 40,000        | 5 to 20 ms, at most 0.15 s                   |
 * | any                                                            | collect all rows that match, and sort    | 1 s for a million rows that match            |
 *
 * Estimates for one process of PostgreSQL, with a million issues in 100 projects, all in memory.
 */
import type { Database } from '../db/index.ts';
import { collect } from './collect.ts';
import { isShort, lookUp } from './look_up.ts';
import type { Start } from './paging.ts';
import { type Part, partsFrom } from './parts.ts';
import { type Found, type Reading, rowsUpTo } from './reading.ts';
import type { Selection } from './selection.ts';
import { thresholds } from './thresholds.ts';
import { walk } from './walk.ts';

interface Way {
  when(reading: Reading): Promise<boolean> | boolean;
  /** @returns nothing if it gave up */
  read(reading: Reading): Promise<Found | undefined>;
}

/** The ways that may give up. */
const ways: readonly Way[] = [
  { when: isShort, read: lookUp },
  { when: ({ start }) => rowsUpTo(start) <= thresholds.walkedTo, read: walk },
];

/**
 * Finds a page.
 * @param parts all parts of the order of the list
 * @param start the start of the page, by number or after a row
 * @throws ApiError 400 for a cursor of another list
 */
export async function pageFrom(
  db: Database,
  selection: Selection,
  parts: readonly Part[],
  start: Start,
): Promise<Found> {
  const reading = { db, selection, start, parts, rest: partsFrom(db, selection.kind, parts, start) };
  for (const { when, read } of ways) {
    const found = (await when(reading)) && (await read(reading));
    if (found) return found;
  }
  return collect(reading);
}
