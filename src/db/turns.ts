import { sql } from 'kysely';
import type { Database } from './connect.ts';

/**
 * Serialises all transactions that use the same name, until this one ends, so that others cannot change the rows that one of them counts.
 * @param name names the lock, with the ids of its owner
 */
export async function takeTurn(tx: Database, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}
