/** Whether the server can accept errors: limits on the queue of ungrouped events, and on free disk space. */
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';

export interface IntakeLimits {
  /** The most events that may be queued. */
  queue_max: number;
  /** Absolute path of a folder on the disk whose free space is checked. */
  folder: string;
  min_free_disk_mb: number;
}

export interface IntakeGuard {
  /** Whether nothing can be accepted now. */
  isFull(db: Database): Promise<boolean>;
  /** Records that an event was stored. */
  count(): void;
}

/** How long a measurement is valid; events stored by this process meanwhile are added to it. */
const kept_ms = 1000;
const mebibyte = 2 ** 20;

async function waitingEvents(db: Database, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select from error_tracking_waiting_events limit ${most}) as waiting`.execute(db);
  return rows[0]!.count;
}

async function free_mb(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return (bavail * bsize) / mebibyte;
  } catch (error) {
    // The folder does not exist if all data is stored elsewhere.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Measures at most once a second, whatever the number of clients. */
export function intakeGuard({ queue_max, folder, min_free_disk_mb }: IntakeLimits): IntakeGuard {
  let measured: { at: number; waiting: Promise<number> } | undefined;
  let stored = 0;
  const measure = async (db: Database): Promise<number> =>
    (await free_mb(folder)) < min_free_disk_mb ? queue_max : waitingEvents(db, queue_max);
  return {
    async isFull(db) {
      const now = performance.now();
      if (measured === undefined || now - measured.at >= kept_ms) {
        const current = { at: now, waiting: measure(db) };
        current.waiting.catch(() => {
          if (measured === current) measured = undefined;
        });
        measured = current;
        stored = 0;
      }
      const { waiting } = measured;
      return (await waiting) + stored >= queue_max;
    },
    count() {
      stored += 1;
    },
  };
}
