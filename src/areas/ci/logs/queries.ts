/** Reading logs, also while they grow (docs/reference/job_logs.md). */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

export interface Log {
  job_id: number;
  kept_size: number;
  /** Whether the job printed its variables. */
  debug_trace: boolean;
}

/** The log of a job; undefined for one that no runner has had. */
export const logOf = (db: Database, job_id: number): Promise<Log | undefined> =>
  db
    .selectFrom('job_logs')
    .select(['job_id', 'kept_size', 'debug_trace'])
    .where('job_id', '=', job_id)
    .executeTakeFirst();

/** How many pieces are read at once, each of 4 MiB at most. */
const batch = 16;

async function* piecesOf(db: Database, { job_id }: Log, first: number, end: number): AsyncGenerator<Buffer> {
  let at = first;
  while (at < end) {
    const { rows } = await sql<{ position: number; content: Buffer }>`
      select position, content from job_log_pieces
       where job_id = ${job_id} and position >= coalesce((select max(position) from job_log_pieces where job_id = ${job_id} and position <= ${at}), 0)
       order by position limit ${sql.lit(batch)}`.execute(db);
    for (const { position, content } of rows) {
      const piece = content.subarray(at - position, end - position);
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
    // The log was erased meanwhile.
    if (rows.length === 0) return;
  }
}

/**
 * The bytes of a log.
 * @param first the position of the first one; what comes while it is read is left out
 */
export const readLog = (db: Database, log: Log, first = 0): Readable =>
  Readable.from(piecesOf(db, log, Math.max(0, first), log.kept_size), { objectMode: false });

/** A longer line is cut. */
const maximumLine_chars = 10_000;

/**
 * The lines of a log, several at a time.
 * @param together the most lines at once
 */
export async function* linesOfLog(db: Database, log: Log, together: number): AsyncGenerator<string[]> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: readLog(db, log), crlfDelay: Number.POSITIVE_INFINITY })) {
    lines.push(line.slice(0, maximumLine_chars));
    if (lines.length < together) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}
