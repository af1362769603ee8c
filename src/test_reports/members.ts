/** The files that were compressed with gzip, one after another, into one. */
import { crc32, inflateRawSync } from 'node:zlib';
import { UnreadableReport } from './errors.ts';

const [fixed_bytes, trailer_bytes] = [10, 8];
const flags = { headerCheck: 2, extra: 4, name: 8, comment: 16 };

/** The length of the header of a member (RFC 1952). */
function headerLength(bytes: Buffer): number {
  const flag = bytes[3]!;
  let at = fixed_bytes;
  if (flag & flags.extra) at += 2 + bytes.readUInt16LE(at);
  for (const text of [flags.name, flags.comment])
    if (flag & text) {
      const end = bytes.indexOf(0, at);
      if (end < 0) throw new UnreadableReport('it is broken off');
      at = end + 1;
    }
  return flag & flags.headerCheck ? at + 2 : at;
}

/** Its types lack the result with how far the parser came. */
type Inflated = { buffer: Buffer; engine: { bytesWritten: number } };

/** The first file, and what follows it. */
function firstOf(bytes: Buffer, most_bytes: number): { content: Buffer; rest: Buffer } {
  try {
    if (bytes.readUInt16BE(0) !== 0x1f8b) throw new UnreadableReport('it is not gzip');
    const packed = bytes.subarray(headerLength(bytes));
    const options = { info: true, maxOutputLength: Math.max(most_bytes, 1) };
    const { buffer, engine } = inflateRawSync(packed, options) as unknown as Inflated;
    const end = engine.bytesWritten;
    if (crc32(buffer) !== packed.readUInt32LE(end)) throw new UnreadableReport('it is damaged');
    return { content: buffer, rest: packed.subarray(end + trailer_bytes) };
  } catch (error) {
    if (error instanceof UnreadableReport) throw error;
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnreadableReport(isLarge ? 'it is too large' : 'it is damaged');
  }
}

/**
 * The files in a gzip, each for itself: a runner adds one for each file that a pattern matches.
 * @param most_bytes of all files together
 * @throws UnreadableReport
 */
export function* membersOf(bytes: Buffer, most_bytes: number): Generator<Buffer> {
  let left_bytes = most_bytes;
  for (let rest = bytes; rest.length > 0; ) {
    const first = firstOf(rest, left_bytes);
    left_bytes -= first.content.length;
    if (left_bytes < 0) throw new UnreadableReport('it is too large');
    yield first.content;
    rest = first.rest;
  }
}
