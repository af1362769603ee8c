/**
 * The queue's connections to PostgreSQL. When a job ends while the database is unavailable, the queue retries its statement only for some SQLSTATEs. For any other
 * error it rejects a promise without a handler, which ends the process. So every temporary error is given a SQLSTATE that the queue retries.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { hasLostDatabase } from '../db/index.ts';

/** cannot_connect_now: the queue waits and repeats the statement. All its statements can be repeated. */
const triedAgain = '57P03';
const pause_ms = 200;

class QueueClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares a dozen overloads; the queue uses those that return a promise.
  override query(...args: any[]): any {
    const answer: unknown = super.query(...(args as [string]));
    if (!(answer instanceof Promise)) return answer;
    return answer.catch((error) => {
      throw hasLostDatabase(error) ? Object.assign(error, { code: triedAgain }) : error;
    });
  }
}

class QueuePool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: as in pg, one name for two functions.
  override connect(callback?: any): any {
    return callback === undefined ? this.#connected() : super.connect(callback);
  }

  /** Waits for the database. */
  async #connected(): Promise<pg.PoolClient> {
    for (;;) {
      // The worker has stopped and returned its jobs, so statements that it would still run no longer matter.
      if (this.ending) return await new Promise<never>(() => {});
      try {
        return await super.connect();
      } catch (error) {
        if (!hasLostDatabase(error) && !this.ending) throw error;
      }
      await sleep(pause_ms, undefined, { ref: false });
    }
  }
}

/**
 * A connection pool for the queue, without our value parsers, because the queue reads its own rows.
 * @param max the maximum number of connections
 */
export function queuePool(connectionString: string, max: number): pg.Pool {
  const pool = new QueuePool({ Client: QueueClient, connectionString, max, application_name: 'coppice worker' });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {})); // the next statement fails with the same error
  return pool;
}
