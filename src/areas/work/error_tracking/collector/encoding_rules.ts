/** Bodies of requests as SDKs compress them. */
import { pipeline, Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { ApiError } from '../../../../http/index.ts';
import { Malformed } from './envelope_rules.ts';

/** A body, or what comes out of it, is larger than it may be. */
export class BodyTooLarge extends Error {}

/** Passes on no more than this many bytes. */
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

/** zlib streams begin with a byte whose lower half is 8; some clients send `deflate` without their frame. */
function inflater(first: Buffer | undefined): Transform {
  return first !== undefined && (first[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

async function* asSent(source: Readable, first: Buffer | undefined): AsyncGenerator<Buffer> {
  if (first) yield first;
  yield* source as AsyncIterable<Buffer>;
}

/** The bytes of a stream, with errors of the decompression as Malformed; a body that did not arrive keeps its error. */
async function* decoded(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw error instanceof BodyTooLarge || error instanceof ApiError ? error : new Malformed('', { cause: error });
  }
}

/**
 * Decompresses a body while it arrives.
 * @param encoding the header, if any
 * @param limits in bytes, as sent and as read
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
