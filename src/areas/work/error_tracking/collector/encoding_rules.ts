/** Decompresses request bodies of SDKs. */
import { pipeline, Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { ApiError } from '../../../../http/index.ts';
import { Malformed } from './envelope_rules.ts';

/** A body is too large, compressed or decompressed. */
export class BodyTooLarge extends Error {}

/** Passes on at most this many bytes, and fails beyond. */
function atMost(limit_bytes: number): Transform {
  let count = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count += chunk.length;
      if (count > limit_bytes) done(new BodyTooLarge());
      else done(null, chunk);
    },
  });
}

/** The lower half of the first byte of a zlib stream is 8; some clients send `deflate` without the zlib header. */
function inflater(first: Buffer | undefined): Transform {
  return first !== undefined && (first[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

async function* asSent(source: Readable, first: Buffer | undefined): AsyncGenerator<Buffer> {
  if (first) yield first;
  yield* source as AsyncIterable<Buffer>;
}

/** The bytes of a stream. Decompression errors become Malformed; errors of an incomplete body stay. */
async function* decoded(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw error instanceof BodyTooLarge || error instanceof ApiError ? error : new Malformed('', { cause: error });
  }
}

/**
 * Decompresses a body as it arrives.
 * @param encoding the header, if any
 * @param limits in bytes, compressed and decompressed
 * @throws BodyTooLarge, and Malformed for an unknown encoding or a damaged body
 */
export async function* decompress(
  body: Readable,
  encoding: string | undefined,
  limits: { sent_bytes: number; read_bytes: number },
): AsyncGenerator<Buffer> {
  const sent = body.pipe(atMost(limits.sent_bytes));
  body.on('error', (error) => sent.destroy(error));
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return yield* decoded(sent);
  const chunks = sent[Symbol.asyncIterator]();
  const { value: first } =
    name === 'deflate' ? ((await chunks.next()) as { value: Buffer | undefined }) : { value: undefined };
  const decompressors: Record<string, () => Transform> = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
    deflate: () => inflater(first),
  };
  if (!Object.hasOwn(decompressors, name)) throw new Malformed();
  const read = pipeline(
    Readable.from(asSent(sent, first)),
    decompressors[name]!(),
    atMost(limits.read_bytes),
    () => {},
  );
  yield* decoded(read);
}
