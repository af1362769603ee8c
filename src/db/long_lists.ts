/** The lengths of long lists, as they were a moment ago: finding them out takes as long as many of their pages. */
import { hash } from 'node:crypto';
import type { RawBuilder } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { cacheOf } from '../caches.ts';
import type { Database } from './connect.ts';

/** How long a list that has become shorter may count as one of more rows than are ever counted. Lists grow, so this hardly ever happens. */
const uncounted_ms = 60_000;
/** How long a total may be out of date. */
const counted_ms = 5_000;
/** Shorter lists are counted each time. */
const fewest = 1_000;
const mostKnown = 10_000;

const knownBy = new WeakMap<Database, LRUCache<string, number>>();

function knownOf(db: Database): LRUCache<string, number> {
  let known = knownBy.get(db);
  if (!known) {
    known = cacheOf(mostKnown, { ttl: counted_ms });
    knownBy.set(db, known);
  }
  return known;
}

/**
 * How many rows a list has, at most `most`. A number from 1,000 is remembered for five seconds, and `most` for a minute.
 * @param list tells the list from all others, with everything that decides on its rows
 * @param count counts them, up to `most`
 */
export async function countedUpTo(db: Database, list: string, most: number, count: () => Promise<number>): Promise<number> {
  const known = knownOf(db);
  const key = hash('sha1', `${most} ${list}`);
  const remembered = known.get(key);
  if (remembered !== undefined) return remembered;
  const total = await count();
  if (total >= Math.min(most, fewest)) known.set(key, total, { ttl: total >= most ? uncounted_ms : counted_ms });
  return total;
}

/**
 * The number of rows that a statement counts, up to `most`, as `countedUpTo` remembers it.
 * @param counting selects it as `total`
 */
export function countRows(db: Database, counting: RawBuilder<{ total: number }>, most: number): Promise<number> {
  const statement = counting.compile(db);
  const list = JSON.stringify([statement.sql, statement.parameters]);
  return countedUpTo(db, list, most, async () => (await db.executeQuery(statement)).rows[0]!.total);
}
