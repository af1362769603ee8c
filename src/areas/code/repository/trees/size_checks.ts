/** Limits on blobs in JSON replies. */
import { isWithin } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { ApiError } from '../../../../http/index.ts';

/** Blobs in JSON above this size are limited to a few per minute: each is in memory three times. */
const large_bytes = 10 * 1024 * 1024;
const largest_bytes = 128 * 1024 * 1024;
const largeReads = { name: 'large_blobs_in_json', most: 5, window_s: 60 };

/**
 * Checks that a blob may be returned as JSON.
 * @param owner the owner of the blob, such as `project:7`
 * @param raw the endpoint that returns its bytes, named in the refusal
 * @throws ApiError 429 for the sixth large blob of an owner in a minute, 413 if it is too large for a JSON reply
 */
export async function admitInJson(db: Database, owner: string, size_bytes: number, raw: string): Promise<void> {
  const message =
    `The requested blob is over the threshold size of ${large_bytes}.\n` +
    `Access this blob using '${raw}' to avoid this error.\n`;
  if (size_bytes > largest_bytes) throw new ApiError(413, { message });
  if (size_bytes <= large_bytes) return;
  if (!(await isWithin(db, { ...largeReads, who: owner }))) throw new ApiError(429, { message });
}
