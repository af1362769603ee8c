/** The bytes of a blob as a reply. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { blobSize, type Repository, readBlob, streamBlob } from '../../../../git/index.ts';
import type { Headers } from '../../../../http/index.ts';
import { contentType, disposition, shownAs, sniffed_bytes, uncached } from './content_rules.ts';

export interface FoundBlob {
  repository: Repository;
  id: string;
  size_bytes: number;
}

/** Up to this size a blob is read as a whole, which is cheaper than a separate process. */
const small_bytes = 256 * 1024;

/** The bytes of a blob, and its first bytes for detecting the media type. */
export async function contentOf({
  repository,
  id,
  size_bytes,
}: FoundBlob): Promise<{ body: Buffer | Readable; start: Buffer }> {
  if (size_bytes <= small_bytes) {
    const body = await readBlob(repository, id);
    return { body, start: body.subarray(0, sniffed_bytes) };
  }
  const body = streamBlob(repository, id, { reader: 'client' });
  await once(body, 'readable');
  const first: Buffer = body.read() ?? Buffer.alloc(0);
  body.unshift(first);
  return { body, start: first.subarray(0, sniffed_bytes) };
}

/**
 * The headers of the bytes of a blob.
 * @param start its first bytes
 * @param disposition whether browsers display or save it, with its name if it has one
 */
export const headersOf = ({ size_bytes }: FoundBlob, start: Buffer, disposition: string): Headers => ({
  ...shownAs(contentType(start), disposition),
  'content-length': String(size_bytes),
  ...uncached,
});

/** A file as its bytes, shown by browsers. */
export async function blobBytes(repository: Repository, { id, name }: { id: string; name: string }) {
  const blob = { repository, id, size_bytes: await blobSize(repository, id) };
  const { body, start } = await contentOf(blob);
  return { body, headers: headersOf(blob, start, disposition('inline', name)) };
}
