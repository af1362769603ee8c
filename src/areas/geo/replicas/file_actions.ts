/** Copies of files on a secondary (docs/reference/geo.md#copies). */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BlobKey, BlobMismatch } from '../../../blobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { askPrimary } from '../link/request_actions.ts';
import { digestOfBlob } from './checking_actions.ts';
import { PrimaryRefused } from './passage_actions.ts';
import type { Copied } from './queue_actions.ts';
import type { Expected } from './repository_actions.ts';

/** The file with the part downloaded so far, from which the next attempt continues. */
const partOf = ({ downloads }: Pick<JobServices, 'downloads'>, key: string): string =>
  path.join(downloads, 'geo', createHash('sha256').update(key).digest('hex'));

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** Downloads the missing part of a file. */
async function fetchRest(
  services: JobServices,
  key: string,
  file: string,
  size_bytes: number,
  signal: AbortSignal,
): Promise<void> {
  const begun_bytes = await sizeOf(file);
  if (begun_bytes === size_bytes && size_bytes > 0) return;
  const headers: Record<string, string> =
    begun_bytes > 0 && begun_bytes < size_bytes ? { range: `bytes=${begun_bytes}-` } : {};
  const answer = await askPrimary(services, {
    method: 'GET',
    path: `/blobs/${encodeURIComponent(key)}`,
    headers,
    signal,
  });
  const status = answer.statusCode ?? 0;
  if (status !== 200 && status !== 206) {
    answer.destroy();
    throw new PrimaryRefused(status);
  }
  await pipeline(answer, createWriteStream(file, { flags: status === 206 ? 'a' : 'w', mode: 0o600 }), { signal });
}

/**
 * Copies a file. A partial download is kept for the next attempt.
 * @throws BlobMismatch if the bytes from the primary do not match its row, PrimaryRefused, OutboundError, and errors of
 * the store
 */
export async function copyFileHere(
  services: JobServices,
  key: string,
  { checksum, size_bytes }: Expected,
  signal: AbortSignal,
): Promise<Copied> {
  const file = partOf(services, key);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const expected = { size_bytes: size_bytes ?? 0, sha256: checksum };
  await fetchRest(services, key, file, expected.size_bytes, signal);
  try {
    const received = await services.blobs.receive(key as BlobKey, createReadStream(file), expected);
    await received.keep();
    await rm(file, { force: true });
    return { checksum, size_bytes };
  } catch (error) {
    if (error instanceof BlobMismatch) await rm(file, { force: true });
    throw error;
  }
}

/** Removes a copy and any partial download. */
export async function removeFile(services: Pick<JobServices, 'blobs' | 'downloads'>, key: string): Promise<void> {
  await services.blobs.remove(key as BlobKey);
  await rm(partOf(services, key), { force: true });
}

/** The damage of a copy; undefined if it is intact. */
export async function damageOfFile(
  services: Pick<JobServices, 'blobs'>,
  key: string,
  checksum: string,
): Promise<string | undefined> {
  const here = await digestOfBlob(services, key);
  if (!here) return 'The copy is missing.';
  return here.sha256 === checksum ? undefined : `The copy has the SHA-256 ${here.sha256} and not ${checksum}.`;
}
