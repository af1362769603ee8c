/** Archives of files, as a stream: equal entries yield equal bytes. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import type { BlobKey, Blobs } from '../../../blobs/index.ts';
import type { ArchiveEntry } from './definition.ts';

/** The largest size that the field of a header holds. */
const maximumInHeader_bytes = 8 ** 11 - 1;

async function addEntry(tar: Pack, { name, size_bytes: size, content }: ArchiveEntry): Promise<void> {
  const pax = size > maximumInHeader_bytes ? { pax: { size: String(size) } } : {};
  const header = { name, size, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), type: 'file' as const, ...pax };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sink = tar.entry(header, (error) => (error ? reject(error) : resolve()));
  await Promise.all([promise, pipeline(content, sink as unknown as NodeJS.WritableStream)]);
}

/** Creates a tar archive, which is generated while it is read. */
export function tarOf(entries: AsyncIterable<ArchiveEntry>): Readable {
  const tar = pack();
  const added = async () => {
    for await (const entry of entries) await addEntry(tar, entry);
    tar.finalize();
  };
  added().catch((error) => tar.destroy(error));
  return tar as unknown as Readable;
}

/**
 * An entry with the content of a blob.
 * @param size_bytes the expected size; by default the actual one
 * @returns undefined if the blob is lost, or has another size
 */
export async function blobEntry(
  blobs: Blobs,
  name: string,
  key: BlobKey,
  size_bytes?: number,
): Promise<ArchiveEntry | undefined> {
  const found = await blobs.stat(key);
  if (!found || (size_bytes !== undefined && found.size_bytes !== size_bytes)) return undefined;
  const content = await blobs.read(key);
  return content && { name, size_bytes: found.size_bytes, content, is_object: true };
}
