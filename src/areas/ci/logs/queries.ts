/** Reading logs, also while they grow (docs/reference/job_logs.md). */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { BlobKey, ByteRange } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { StoredFiles } from '../../../services/index.ts';

export const jobLogFiles: StoredFiles = {
  table: 'job_logs',
  from: 'job_logs join commit_statuses on commit_statuses.id = job_logs.job_id',
  key: 'blob_key',
  kind: 'job_logs',
  project_id: 'commit_statuses.project_id',
  size_bytes: 'kept_size',
  sha256: 'sha256',
  check: { noun: 'the log of a job', name: 'job_id', remedy: 'Restore it from a backup.' },
};

export interface Log {
  job_id: number;
  kept_size: number;
  /** Whether the job printed its variables. */
  debug_trace: boolean;
  /** Null while it is kept in pieces. */
  blob_key: BlobKey | null;
  sha256: string | null;
}

/** The log of a job; undefined for one that no runner has had. */
export const logOf = (db: Database, job_id: number): Promise<Log | undefined> =>
  db
    .selectFrom('job_logs')
    .select(['job_id', 'kept_size', 'debug_trace', 'sha256'])
    .select((q) => q.ref('blob_key').$castTo<BlobKey | null>().as('blob_key'))
    .where('job_id', '=', job_id)
    .executeTakeFirst();

type Place = Pick<Services, 'db' | 'blobs'>;

/** How many pieces are read at once, each of 4 MiB at most. */
const batch = 16;

/** The bytes from `first` up to `end` of a log that is kept in pieces. */
async function* piecesOf({ db, blobs }: Place, { job_id }: Log, first: number, end: number): AsyncGenerator<Buffer> {
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
    if (rows.length > 0) continue;
    // It became a blob meanwhile, or it was erased.
    const now = await logOf(db, job_id);
    const rest = now?.blob_key ? await blobs.read(now.blob_key, { start: at, end: end - 1 }) : undefined;
    if (rest) yield* rest as AsyncIterable<Buffer>;
    return;
  }
}

/**
 * The bytes of a log.
 * @param range all of it if it is left out; what comes while it is read is left out, too
 * @throws Error if its blob is missing
 */
export async function readLog(
  services: Place,
  log: Log,
  { start, end }: ByteRange = { start: 0, end: log.kept_size - 1 },
): Promise<Readable> {
  if (end < start) return Readable.from([]);
  if (log.blob_key === null) return Readable.from(piecesOf(services, log, start, end + 1), { objectMode: false });
  const stream = await services.blobs.read(log.blob_key, { start, end });
  if (!stream) throw new Error(`the blob ${log.blob_key} is missing`);
  return stream;
}

/** A longer line is cut. */
const maximumLine_chars = 10_000;

/**
 * The lines of a log, several at a time.
 * @param together the most lines at once
 */
export async function* linesOfLog(services: Place, log: Log, together: number): AsyncGenerator<string[]> {
  let lines: string[] = [];
  const input = await readLog(services, log);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    lines.push(line.slice(0, maximumLine_chars));
    if (lines.length < together) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}
