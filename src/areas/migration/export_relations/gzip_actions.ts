/** Compressing the files of exports on their way into the blob store. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { type Blobs, newBlobKey, type ReceivedBlob } from '../../../blobs/index.ts';
import type { Relation } from './definition.ts';

/** A disk would be full before; the size of the parts of an upload to an object store depends on it. */
export const largest_bytes = 1024 ** 4;

const block_bytes = 64 * 1024;

/** The amount written so far. */
export interface Progress {
  /** Before compression. */
  bytes: number;
  objects: number;
}

/**
 * Archives hold packs, images and other compressed data: compressing them again would take ten times as long for no
 * gain.
 */
const levelOf = (form: Relation['form']): number =>
  form === 'archive' ? constants.Z_NO_COMPRESSION : constants.Z_DEFAULT_COMPRESSION;

/**
 * Splits bytes into blocks of one size. Otherwise the output of gzip would depend on the sizes of the incoming chunks.
 */
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
 * Compresses and receives a stream. The gzip header contains neither a time nor a name, so equal content yields equal
 * bytes.
 * @param progress is updated during the run
 * @throws errors of the stream and of the store
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
