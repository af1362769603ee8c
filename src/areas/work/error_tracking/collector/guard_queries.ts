/** Whether the server can take errors at all: how many wait to be grouped, and how much room the disk has. */
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';

export interface IntakeLimits {
  /** How many events may wait. */
  queue_max: number;
  /** Absolute path of a folder on the disk that must not become full. */
  folder: string;
  min_free_disk_mb: number;
}

export interface IntakeGuard {
  /** Whether nothing may be taken now. */
  isFull(db: Database): Promise<boolean>;
  /** Says that an event was stored. */
  count(): void;
}

/** How long a measurement holds; what this process stores in the meantime is added to it. */
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
    // Where everything is elsewhere, there is no such folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Measures at most once a second, however many clients send. */
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
