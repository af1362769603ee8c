/** Appends to logs while jobs run (docs/reference/job_logs.md). What was acknowledged is stored. */
import { crc32 } from 'node:zlib';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { cacheOf } from '../../../foundation/caches.ts';
import type { Services } from '../../../http/index.ts';
import { type HeldJob, maskedPurpose } from '../held_jobs/queries.ts';
import { maskPiece, maskRest, secretsOf } from './rules.ts';

type Sealing = Pick<Services, 'db' | 'secrets'>;
const heldPurpose = 'end of a job log';

/** The secrets of jobs whose logs grow, by what is stored of them: they need not be decrypted for each piece. */
const known = cacheOf<string, Buffer[]>(1_000);

function secretsIn(
  { secrets }: Pick<Services, 'secrets'>,
  { masked_values }: Pick<HeldJob, 'masked_values'>,
): Buffer[] {
  if (masked_values === null) return [];
  const key = masked_values.toString('base64');
  const cached = known.get(key);
  if (cached) return cached;
  const values = JSON.parse(secrets.unseal(maskedPurpose, masked_values) ?? '[]') as string[];
  const found = secretsOf(values);
  known.set(key, found);
  return found;
}

const heldBack = ({ secrets }: Pick<Services, 'secrets'>, { held_back }: Pick<HeldJob, 'held_back'>): Buffer =>
  held_back === null ? Buffer.alloc(0) : Buffer.from(secrets.unseal(heldPurpose, held_back) ?? '', 'base64');

/** Forgets a log that its runner sends once more. */
const clearLog = (db: Database, job_id: number) =>
  sql`
  with cleared as (delete from job_log_pieces where job_id = ${job_id})
  update job_logs set size = 0, crc32 = 0, kept_size = 0, held_back = null where job_id = ${job_id}`.execute(db);

/** What a runner sends of a log. */
interface Piece {
  /** The position of the first byte in what it sent so far. */
  start: number;
  piece: Buffer;
  /** Whether the job prints its variables. */
  debug_trace: boolean;
}

/**
 * Appends what a runner sent to the log of its job, and notes that it is alive.
 * @returns the size of the log afterwards; undefined when it does not end at `start`
 */
export async function appendToLog(
  services: Sealing,
  job: HeldJob,
  { start, piece, debug_trace }: Piece,
): Promise<number | undefined> {
  if (start === 0 && job.size > 0 && job.was_resent) {
    await clearLog(services.db, job.id);
    return appendToLog(services, { ...job, size: 0, crc32: 0, held_back: null }, { start, piece, debug_trace });
  }
  if (start !== job.size) return undefined;
  const { kept, held_back } = maskPiece(heldBack(services, job), piece, secretsIn(services, job));
  const sealed = held_back.length === 0 ? null : services.secrets.seal(heldPurpose, held_back.toString('base64'));
  const size = start + piece.length;
  const { rows } = await sql`
    with seen as (
      update job_runs set seen_at = now(), acknowledged_at = coalesce(acknowledged_at, now()) where job_id = ${job.id}
    ), grown as (
      update job_logs set size = ${size}, crc32 = ${crc32(piece, job.crc32)}, held_back = ${sealed}, kept_size = kept_size + ${kept.length},
             debug_trace = debug_trace or ${debug_trace}
       where job_id = ${job.id} and size = ${start} and blob_key is null
      returning kept_size - ${kept.length} as position
    ), written as (
      insert into job_log_pieces (job_id, position, content) select ${job.id}, position, ${kept} from grown where ${kept.length > 0}
    )
    select from grown`.execute(services.db);
  return rows.length > 0 ? size : undefined;
}

/** Appends what was held back of the log of a job, and lines of the server's own. What somebody else appended meanwhile is not repeated. */
export async function closeLog(
  services: Sealing,
  job: Pick<HeldJob, 'id' | 'masked_values' | 'held_back'>,
  lines = '',
): Promise<void> {
  const rest = Buffer.concat([maskRest(heldBack(services, job), secretsIn(services, job)), Buffer.from(lines)]);
  if (rest.length === 0) return;
  await sql`
    with grown as (
      update job_logs set held_back = null, kept_size = kept_size + ${rest.length}
       where job_id = ${job.id} and blob_key is null and held_back is not distinct from ${job.held_back}
      returning kept_size - ${rest.length} as position
    )
    insert into job_log_pieces (job_id, position, content) select ${job.id}, position, ${rest} from grown`.execute(
    services.db,
  );
}

/** Remembers that a runner was asked to send its log from the beginning. */
export const noteResent = (db: Database, job_id: number) =>
  db.updateTable('job_logs').set({ was_resent: true }).where('job_id', '=', job_id).execute();
