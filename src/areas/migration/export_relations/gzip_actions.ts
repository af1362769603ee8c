/** Compressing the files of exports on their way into the store of blobs. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { type Blobs, newBlobKey, type ReceivedBlob } from '../../../blobs/index.ts';
import type { Relation } from './definition.ts';

/** A disk is full before; the parts of an upload to an object store depend on it. */
export const largest_bytes = 1024 ** 4;

const block_bytes = 64 * 1024;

/** What has been written so far. */
export interface Progress {
  /** Before compression. */
  bytes: number;
  objects: number;
}

/** Archives hold packs, images and the like: compressing these again would take ten times as long, and gain nothing. */
const levelOf = (form: Relation['form']): number =>
  form === 'archive' ? constants.Z_NO_COMPRESSION : constants.Z_DEFAULT_COMPRESSION;

/** Bytes in blocks of one size: what gzip makes of them would otherwise depend on the pieces in which they come. */
async function* inBlocks(chunks: AsyncIterable<Buffer>, progress: Progress): AsyncGenerator<Buffer> {
  let block = Buffer.allocUnsafe(block_bytes);
  let filled = 0;
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(block, filled, at);
      at += copied;
      filled += copied;
      progress.bytes += copied;
      if (filled < block_bytes) continue;
      yield block;
      block = Buffer.allocUnsafe(block_bytes);
      filled = 0;
    }
  if (filled > 0) yield block.subarray(0, filled);
}

/**
 * Compresses and receives a stream. The header of gzip holds neither a time nor a name, so equal content is equal bytes.
 * @param progress is kept up to date
 * @throws what the stream and the store throw
 */
export async function receiveCompressed(
  blobs: Blobs,
  content: Readable,
  { form, progress, signal }: { form: Relation['form']; progress: Progress; signal: AbortSignal },
): Promise<ReceivedBlob> {
  const zipped = createGzip({ level: levelOf(form) });
  const receiving = blobs.receive(newBlobKey('relation_exports'), zipped, { at_most_bytes: largest_bytes });
  receiving.catch((error) => zipped.destroy(error));
  const blocks = (chunks: AsyncIterable<Buffer>) => inBlocks(chunks, progress);
  const [piped, received] = await Promise.allSettled([pipeline(content, blocks, zipped, { signal }), receiving]);
  if (piped.status === 'rejected' && received.status === 'fulfilled') await received.value.discard();
  if (piped.status === 'rejected') throw piped.reason;
  return receiving;
}
