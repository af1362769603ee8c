/** Transactions that are run again when PostgreSQL ends them for the sake of others (docs/decisions/0044-which-transactions-are-repeated.md). */
import { type Database, isContention } from './connect.ts';

/** A transaction that fails this often fails for good. */
const maximumRuns = 4;

/**
 * Runs a transaction, and runs it again after a deadlock or a serialization failure, of which nothing is left in the database.
 * @param db no transaction
 * @param work may be run several times: it changes nothing but the database, and keeps nothing of a run that failed
 */
export async function repeated<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      // PostgreSQL has waited for a second before it found a deadlock, and lets the other transaction end.
      if (run === maximumRuns || !isContention(error)) throw error;
    }
  }
}
