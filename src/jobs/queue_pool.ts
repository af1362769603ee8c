/**
 * The queue's connections to PostgreSQL. When a job ends while the database is unavailable, the queue retries its statement only for some SQLSTATEs. For any other
 * error it rejects a promise without a handler, which ends the process. So every temporary error is given a SQLSTATE that the queue retries.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { HostClient, hasLostDatabase } from '../db/index.ts';

/** cannot_connect_now: the queue waits and repeats the statement. All its statements can be repeated. */
const triedAgain = '57P03';
const pause_ms = 200;

class QueueClient extends HostClient {
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
 * The connections of all runners of a process: each listens on one of its own, and none holds one while a job runs. Two are enough for their short statements. If
 * each place could have one, most would stay open while nothing happens, because places look for jobs at the same moments, and PostgreSQL takes 2.5 MB for each.
 */
const connections = 4;

/** A connection pool for the queue, without our value parsers, because the queue reads its own rows. */
export function queuePool(connectionString: string): pg.Pool {
  const pool = new QueuePool({
    Client: QueueClient,
    connectionString,
    max: connections,
    application_name: 'coppice worker',
  });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {})); // the next statement fails with the same error
  return pool;
}
