/** Decompresses gzip while it arrives. */
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InvalidContent, LimitExceeded } from './errors.ts';

const isDamage = (error: unknown): boolean => ((error as NodeJS.ErrnoException).code ?? '').startsWith('Z_');

/** An empty stream is not valid gzip, but zlib accepts it. */
async function* notEmpty(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const chunk of source) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw new InvalidContent('The file is empty.');
}

/**
 * The content of a gzip stream. An error of the source itself is passed on.
 * @param most_bytes of the content
 * @throws InvalidContent when it is not gzip or is truncated; LimitExceeded
 */
export async function* unpacked(source: AsyncIterable<Uint8Array>, most_bytes: number): AsyncGenerator<Buffer> {
  const content = pipeline(Readable.from(notEmpty(source)), createGunzip(), () => {});
  let size_bytes = 0;
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      size_bytes += chunk.length;
      if (size_bytes > most_bytes) throw new LimitExceeded(`The file unpacks to more than ${most_bytes} bytes.`);
      yield chunk;
    }
  } catch (error) {
    throw isDamage(error)
      ? new InvalidContent('The file is not gzip, or is damaged or broken off.', { cause: error })
      : error;
  }
}
