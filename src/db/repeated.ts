/** Retries transactions that PostgreSQL aborts because of concurrent ones (docs/decisions/0044-which-transactions-are-repeated.md). */
import { type Database, isContention } from './connect.ts';

/** A transaction that fails this often is not retried again. */
const maximumRuns = 4;

/**
 * Runs a transaction, and retries it after a deadlock or a serialization failure, which roll it back completely.
 * @param db no transaction
 * @param work may be run several times: its only effects are in the database, and it keeps no state of a failed run
 */
export async function repeated<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      // PostgreSQL waits for a second before it detects a deadlock, and lets the other transaction finish.
      if (run === maximumRuns || !isContention(error)) throw error;
    }
  }
}
