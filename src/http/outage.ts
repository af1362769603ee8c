/** Logging during a database outage: one line when it begins, one with a count when it ends, and none per request. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { type Database, isUnavailable, onIdleLoss } from '../db/index.ts';

const poll_ms = 500;
/** The sessions of a killed database answer until they notice that it is gone, so that one answer proves nothing. */
const answers_that_prove = 2;
/** How long the server is not ready after a write failed on a full disk. */
const fullFor_ms = 10_000;

/** `disk_full` of PostgreSQL and the corresponding codes of the file system, also as reported by git. */
const fullCodes = new Set(['53100', 'ENOSPC', 'EDQUOT']);

export const isFull = (error: unknown): boolean => fullCodes.has((error as { code?: string } | undefined)?.code ?? '');

export class Outage {
  readonly #db: Database;
  readonly #log: Pick<Logger, 'error' | 'warn'>;
  /** The number of failed requests since the outage began; undefined while the database is available. */
  #failed: number | undefined;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(db: Database, log: Pick<Logger, 'error' | 'warn'>) {
    this.#db = db;
    this.#log = log;
    // Polls, so that an idle server notices the end of the outage, too.
    onIdleLoss(db, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      await sql`select 1`.execute(this.#db);
    } catch (error) {
      if (isUnavailable(error)) this.#begin(error);
    }
  }

  #begin(error: unknown): void {
    if (this.#failed !== undefined) return;
    this.#log.error({ reason: (error as Error).message }, 'the database is away: requests are answered with 503');
    this.#failed = 0;
    void this.#watch();
  }

  /**
   * Counts a failed request.
   * @returns whether it needs no log line of its own
   */
  covers(error: unknown): boolean {
    if (isFull(error)) {
      if (performance.now() - this.#fullAt > fullFor_ms)
        this.#log.error({ err: error }, 'the disk is full: writes fail');
      this.#fullAt = performance.now();
      return true;
    }
    if (!isUnavailable(error)) return false;
    this.#begin(error);
    this.#failed = (this.#failed ?? 0) + 1;
    return true;
  }

  /** Whether a write has recently failed on a full disk. */
  get isFull(): boolean {
    return performance.now() - this.#fullAt < fullFor_ms;
  }

  async #watch(): Promise<void> {
    const since = performance.now();
    for (let answers = 0; answers < answers_that_prove; ) {
      await sleep(poll_ms, undefined, { ref: false });
      try {
        await sql`select 1`.execute(this.#db);
        answers++;
      } catch {
        answers = 0;
      }
    }
    const seconds = Math.round((performance.now() - since) / 100) / 10;
    this.#log.warn({ failed_requests: this.#failed, seconds }, 'the database is back');
    this.#failed = undefined;
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    outage: Outage;
  }
}
