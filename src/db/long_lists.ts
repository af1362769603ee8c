/**
 * Lists that were long a moment ago. Whether a list has more rows than are ever counted takes as long to find out as many of its pages, and the answer hardly ever
 * changes: lists grow.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database } from './connect.ts';

/** How long a list that has become shorter may count as long. */
const known_ms = 60_000;
const mostKnown = 10_000;

const knownBy = new WeakMap<Database, LRUCache<string, true>>();

function knownOf(db: Database): LRUCache<string, true> {
  let known = knownBy.get(db);
  if (!known) {
    known = new LRUCache({ max: mostKnown, ttl: known_ms });
    knownBy.set(db, known);
  }
  return known;
}

/**
 * How many rows a list has, at most `most`. Only that there are as many is remembered, for a minute.
 * @param list tells the list from all others, with everything that decides on its rows
 * @param count counts them, up to `most`
 */
export async function countedUpTo(db: Database, list: string, most: number, count: () => Promise<number>): Promise<number> {
  const known = knownOf(db);
  const key = hash('sha1', `${most} ${list}`);
  if (known.has(key)) return most;
  const total = await count();
  if (total >= most) known.set(key, true);
  return total;
}
