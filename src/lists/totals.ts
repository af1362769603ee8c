/** Cached lengths of long lists: counting takes as long as reading many of their pages. */
import { hash } from 'node:crypto';
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { type Database, originOf } from '../db/index.ts';
import { cacheOf } from '../foundation/caches.ts';
import { isKeptFromGroups } from '../foundation/clients.ts';

/** How long a list that has become shorter may still count as longer than the counting limit. Lists grow, so this hardly ever happens. */
const uncounted_ms = 60_000;
/** The maximum age of a total. */
const counted_ms = 5_000;
/** Shorter lists are counted each time. */
const fewest = 1_000;
const maximumKnown = 10_000;

/**
 * A cache for each database. Nothing is cached for clients that are kept from groups.
 * @param ttl how long an entry is kept, in milliseconds
 * @param most how many entries are kept
 */
export function cachesByDatabase<Value extends {}>(
  ttl: number,
  most = maximumKnown,
): (db: Database) => LRUCache<string, Value> {
  const caches = new WeakMap<Database, LRUCache<string, Value>>();
  return (db) => {
    // The lists of such a client are shorter, and differ between addresses.
    if (isKeptFromGroups()) return cacheOf(most, { ttl });
    const origin = originOf(db);
    let cache = caches.get(origin);
    if (!cache) {
      cache = cacheOf(most, { ttl });
      caches.set(origin, cache);
    }
    return cache;
  };
}

const knownOf = cachesByDatabase<number>(counted_ms);

const keyOf = (list: string, most: number) => hash('sha1', `${most} ${list}`);

function remember(db: Database, key: string, total: number, most: number): void {
  if (total >= Math.min(most, fewest)) knownOf(db).set(key, total, { ttl: total >= most ? uncounted_ms : counted_ms });
}

/**
 * The number of rows of a list, at most `most`. A number from 1,000 is cached for five seconds, and `most` for a minute.
 * @param list identifies the list, including everything that determines its rows
 * @param count counts them, up to `most`
 */
export async function countedUpTo(
  db: Database,
  list: string,
  most: number,
  count: () => Promise<number>,
): Promise<number> {
  const key = keyOf(list, most);
  const remembered = knownOf(db).get(key);
  if (remembered !== undefined) return remembered;
  const total = await count();
  remember(db, key, total, most);
  return total;
}

/** Selects the number of rows of a list; its text identifies the list. */
export type Counting = RawBuilder<{ total: number }>;

function listOf(db: Database, counting: Counting): { statement: CompiledQuery<{ total: number }>; list: string } {
  const statement = counting.compile(db);
  return { statement, list: JSON.stringify([statement.sql, statement.parameters]) };
}

/** The number of rows that a statement counts, up to `most`, cached like in `countedUpTo`. */
export function countRows(db: Database, counting: Counting, most: number): Promise<number> {
  const { statement, list } = listOf(db, counting);
  return countedUpTo(db, list, most, async () => (await db.executeQuery(statement)).rows[0]!.total);
}

/** The lists that were short when their length was last estimated. */
const shortOf = cachesByDatabase<true>(uncounted_ms);

/**
 * Whether a list has fewer than `most` rows, as far as it shows without counting them. The answer may be a minute old.
 * @param estimate called if nothing is cached about the list
 */
export async function isExpectedShort(
  db: Database,
  counting: Counting,
  most: number,
  estimate: () => Promise<boolean>,
): Promise<boolean> {
  const key = keyOf(listOf(db, counting).list, most);
  if ((knownOf(db).get(key) ?? 0) >= most) return false;
  const isShort = shortOf(db).get(key) ?? (await estimate());
  if (isShort) shortOf(db).set(key, true);
  return isShort;
}

/**
 * How many rows PostgreSQL expects a statement to select, which takes no longer than planning it. For a common value this is within a few percent, if the table has been
 * analysed; for rare ones it says little.
 */
export async function expectedRows(db: Database, statement: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{
    'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }];
  }>`explain (format json) ${statement}`.execute(db);
  return rows[0]!['QUERY PLAN'][0].Plan['Plan Rows'];
}

/**
 * A function that counts the rows of several objects. Counts of 1,000 or more are cached for five seconds.
 * @param sizeOf the number of counted rows
 */
export function countingEach<Counts extends {}>(sizeOf: (counts: Counts) => number) {
  const cacheFor = cachesByDatabase<Counts>(counted_ms);
  /**
   * @param keyOf identifies an object, including everything else that determines its counts
   * @param count counts several objects together
   * @returns the counts of each object, in order
   */
  return async <Thing>(
    db: Database,
    things: readonly Thing[],
    keyOf: (thing: Thing) => string,
    count: (things: readonly Thing[]) => Promise<readonly Counts[]>,
  ): Promise<Counts[]> => {
    const cache = cacheFor(db);
    const remembered = things.map((thing) => cache.get(keyOf(thing)));
    const others = things.filter((_, index) => remembered[index] === undefined);
    const counted = others.length === 0 ? [] : await count(others);
    for (const [index, counts] of counted.entries())
      if (sizeOf(counts) >= fewest) cache.set(keyOf(others[index]!), counts);
    const rest = counted.values();
    return remembered.map((counts) => counts ?? rest.next().value!);
  };
}
