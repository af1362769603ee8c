/** Comparing blobs with their checksums. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { BlobKey, Blobs } from '../blobs/index.ts';

/**
 * Whether a blob has this content. One that has just been deleted counts as intact: that it is missing is another finding.
 * @param sha256 in hexadecimal, lower case
 */
export async function isIntact(blobs: Blobs, key: BlobKey, sha256: string, signal: AbortSignal): Promise<boolean> {
  const hash = createHash('sha256');
  try {
    const content = await blobs.read(key);
    if (!content) return true;
    await pipeline(content, hash, { signal });
    return hash.digest('hex') === sha256;
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'EIO') return false; // the disk itself says that it is damaged
    throw error;
  }
}
