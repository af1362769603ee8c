import { sql } from 'kysely';
import type { Database } from './connect.ts';

/**
 * Takes turns with all transactions that name the same, until this one ends, so that what one of them counts the others cannot change meanwhile.
 * @param name what is taken turns about, with the ids of what it belongs to
 */
export async function takeTurn(tx: Database, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}
