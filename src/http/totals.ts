/** Totals of long lists. Counting takes longer than reading a page, so they are kept for a moment (docs/api.md#pagination). */
import { hash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/index.ts';

const keptFor_ms = 2000;
const mostKept = 5000;
/** Shorter lists are counted each time. */
const leastRows = 1000;

const totals = new WeakMap<Database, LRUCache<string, number>>();

function totalsOf(db: Database): LRUCache<string, number> {
  let kept = totals.get(db);
  if (!kept) {
    kept = new LRUCache({ max: mostKept, ttl: keptFor_ms });
    totals.set(db, kept);
  }
  return kept;
}

/**
 * The `total` of a statement that counts, which may be two seconds old for a long list. The statement names the caller where that matters, so that each
 * gets their own.
 */
export async function countOnce(db: Database, statement: CompiledQuery<{ total: number }>): Promise<number> {
  const kept = totalsOf(db);
  const key = hash('sha1', `${statement.sql}\n${JSON.stringify(statement.parameters)}`);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const { rows } = await db.executeQuery(statement);
  const { total } = rows[0]!;
  if (total >= leastRows) kept.set(key, total);
  return total;
}
