/** Deletes rows that a request has found. */
import { sql } from 'kysely';
import type { Database, DB } from '../db/index.ts';
import { found } from './errors.ts';

/**
 * Deletes a row by its ID. Of several concurrent requests only one succeeds.
 * @param what as for `found`
 * @throws ApiError 404 when the row is gone
 */
export async function deleteFound(db: Database, table: keyof DB, id: number, what?: string): Promise<void> {
  const { rows } = await sql`delete from ${sql.table(table)} where id = ${id} returning id`.execute(db);
  found(what, rows[0]);
}
