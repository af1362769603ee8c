/** Compares the bytes of a blob with the announced size and digest. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BlobMismatch, type Bounded, type Expected } from './types.ts';

/** The maximum number of bytes. */
export const most_bytes = (expected: Expected | Bounded): number =>
  'sha256' in expected ? expected.size_bytes : expected.at_most_bytes;

/**
 * Writes the chunks of a stream one after the other.
 * @returns the received size and digest
 * @throws BlobMismatch, and the errors of the stream and of `write`
 */
export async function copyVerified(
  source: Readable,
  expected: Expected | Bounded,
  write: (chunk: Buffer) => Promise<unknown>,
): Promise<Expected> {
  const hash = createHash('sha256');
  let received_bytes = 0;
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received_bytes += chunk.length;
    if (received_bytes > most_bytes(expected)) throw new BlobMismatch('size');
    hash.update(chunk);
    await write(chunk);
  }
  const sha256 = hash.digest('hex');
  if ('sha256' in expected) {
    if (received_bytes < expected.size_bytes) throw new BlobMismatch('size');
    if (sha256 !== expected.sha256) throw new BlobMismatch('digest');
  }
  return { size_bytes: received_bytes, sha256 };
}
