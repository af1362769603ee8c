/** Verifying all records now, instead of after some days. */
import { sql } from 'kysely';
import type { Services } from '../../../http/index.ts';

/**
 * Makes the verification of all copies due on a secondary, and that of all originals on a primary.
 * @returns how many are due
 */
export async function verifySoon({ db, geo }: Pick<Services, 'db' | 'geo'>): Promise<number> {
  const due =
    geo.role === 'secondary'
      ? sql`update geo_replicas set verified_at = '-infinity' where state = 'synced'`
      : sql`update geo_checksums set due_at = now() where checked_at is not null`;
  const { numAffectedRows = 0n } = await due.execute(db);
  return Number(numAffectedRows);
}
