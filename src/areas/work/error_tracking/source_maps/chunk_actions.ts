/** Chunks: parts of bundles, uploaded by clients before the bundle is announced. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { sql } from 'kysely';
import { newBlobKey } from '../../../../blobs/index.ts';
import { ofAnyLength } from '../../../../db/index.ts';
import { badRequest, type Caller, type Services } from '../../../../http/index.ts';
import { storeBlob, useBlob } from '../../../instance/blobs/index.ts';

const unzip = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

export const chunk_bytes = 8 * 2 ** 20;
/** Per user, until they are unpacked. */
const maximumWaiting_bytes = 512 * 2 ** 20;

const badChunk = 'a chunk is not what its name says';
const tooManyChunks = `too many chunks wait to be assembled (${maximumWaiting_bytes / 2 ** 20} MiB)`;

async function bytesOf(sent: Buffer, isZipped: boolean): Promise<Buffer> {
  if (!isZipped) return sent;
  return unzip(sent, { maxOutputLength: chunk_bytes }).catch(() => {
    throw badRequest(badChunk);
  });
}

/**
 * Stores a chunk, unless the user has uploaded it already.
 * @param checksum the SHA-1 of its bytes, in hexadecimal
 * @throws ApiError 400 if the checksum does not match, or if the user has uploaded too much
 */
export async function storeChunk(
  { db, blobs }: Pick<Services, 'db' | 'blobs'>,
  { id: user_id }: Caller,
  { checksum, sent, isZipped }: { checksum: string; sent: Buffer; isZipped: boolean },
): Promise<void> {
  const bytes = await bytesOf(sent, isZipped);
  if (bytes.length > chunk_bytes || createHash('sha1').update(bytes).digest('hex') !== checksum)
    throw badRequest(badChunk);
  const { rows } = await sql<{ is_known: boolean; waiting: number }>`
    select coalesce(bool_or(checksum = decode(${checksum}, 'hex')), false) as is_known, coalesce(sum(size_bytes), 0)::bigint as waiting
      from error_tracking_chunks where user_id = ${user_id}`.execute(db);
  const [{ is_known, waiting }] = rows as [(typeof rows)[number]];
  if (is_known) return;
  if (waiting + bytes.length > maximumWaiting_bytes) throw badRequest(tooManyChunks);
  const blob_key = await storeBlob(
    db,
    await blobs.receive(newBlobKey('error_chunks'), Readable.from([bytes]), { at_most_bytes: chunk_bytes }),
  );
  await db.transaction().execute(async (tx) => {
    const { numAffectedRows } = await sql`
      insert into error_tracking_chunks (user_id, checksum, blob_key, size_bytes)
      values (${user_id}, decode(${checksum}, 'hex'), ${blob_key}, ${bytes.length}) on conflict do nothing`.execute(tx);
    // If two equal chunks arrive concurrently, the second one's blob stays recorded as unused.
    if (numAffectedRows) await useBlob(tx, blob_key);
  });
}

/** The checksums, in hexadecimal, of chunks that the user has not uploaded. */
export async function missingChunks(
  db: Services['db'],
  user_id: number,
  checksums: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ checksum: string }>`
    select asked.checksum from unnest(${ofAnyLength(checksums, 'text[]')}) asked(checksum)
     where not exists (select from error_tracking_chunks chunks where chunks.user_id = ${user_id} and chunks.checksum = decode(asked.checksum, 'hex'))`.execute(
    db,
  );
  return rows.map(({ checksum }) => checksum);
}
