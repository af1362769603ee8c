/** The directory of a zip, and single files of it. Nothing is unpacked but the file that is asked for, and memory does not depend on the size of the archive. */
import { pipeline, Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { ByteReader } from './byte_reader.ts';
import { InvalidContent, LimitExceeded } from './errors.ts';

/** A file whose parts can be read. */
export interface RandomAccess {
  size_bytes: number;
  /** Bytes `start` to `end`, without the last. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

export interface ZipEntry {
  /** As it is in the archive. */
  name: string;
  type: 'file' | 'directory' | 'link';
  /** Of the unpacked file, as the archive says. */
  size_bytes: number;
  /** The permissions of Unix, such as 0o644. */
  mode: number;
  /** Where it is, and how it is packed. */
  packed: { at: number; size_bytes: number; method: number; is_encrypted: boolean };
}

const end_bytes = 22;
const locator_bytes = 20;
const largeEnd_bytes = 56;
const entry_bytes = 46;
const header_bytes = 30;
const longestComment_bytes = 0xffff;
const signatures = { end: 0x06054b50, locator: 0x07064b50, largeEnd: 0x06064b50, entry: 0x02014b50, file: 0x04034b50 };
const maximumEntries = 1_000_000;
/** Stands for a number that is in the extra field. */
const elsewhere = 0xffffffff;
const large = 0x0001;
const damaged = () => new InvalidContent('The archive is damaged.');

async function bytesOf(file: RandomAccess, start: number, end: number): Promise<Buffer> {
  if (start < 0 || end > file.size_bytes) throw damaged();
  const bytes = Buffer.concat(await Array.fromAsync(file.read(start, end)));
  if (bytes.length < end - start) throw damaged();
  return bytes;
}

function safe(number: bigint): number {
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged();
  return Number(number);
}

/** Where the directory is. Offsets count from `base`: a program that unpacks the archive may precede it. */
interface Directory {
  base: number;
  start: number;
  end: number;
  count: number;
}

async function directoryOf(file: RandomAccess): Promise<Directory> {
  const tail_bytes = Math.min(file.size_bytes, end_bytes + longestComment_bytes + locator_bytes);
  const tail = await bytesOf(file, file.size_bytes - tail_bytes, file.size_bytes);
  const at = endIn(tail);
  if (at === undefined) throw new InvalidContent('The file is no zip.');
  const place = file.size_bytes - tail_bytes + at;
  const isLarge = at >= locator_bytes && tail.readUInt32LE(at - locator_bytes) === signatures.locator;
  const found = isLarge
    ? await largeDirectory(file, safe(tail.readBigUInt64LE(at - locator_bytes + 8)))
    : {
        place,
        count: tail.readUInt16LE(at + 10),
        size: tail.readUInt32LE(at + 12),
        offset: tail.readUInt32LE(at + 16),
      };
  const base = found.place - found.size - found.offset;
  if (base < 0) throw damaged();
  if (found.count > maximumEntries) throw new LimitExceeded('The archive has more than 1,000,000 entries.');
  return { base, start: base + found.offset, end: found.place, count: found.count };
}

/** The last record whose comment fits behind it. */
function endIn(tail: Buffer): number | undefined {
  for (let at = tail.length - end_bytes; at >= 0; at--)
    if (tail.readUInt32LE(at) === signatures.end && at + end_bytes + tail.readUInt16LE(at + 20) <= tail.length)
      return at;
  return undefined;
}

async function largeDirectory(file: RandomAccess, place: number) {
  const record = await bytesOf(file, place, place + largeEnd_bytes);
  if (record.readUInt32LE(0) !== signatures.largeEnd) throw damaged();
  const [count, size, offset] = [32, 40, 48].map((at) => safe(record.readBigUInt64LE(at))) as [number, number, number];
  return { place, count, size, offset };
}

/** The numbers of more than 32 bits, in the order in which the entry lacks them. */
function* largeNumbers(extra: Buffer): Generator<number, number> {
  for (let at = 0; at + 4 <= extra.length; ) {
    const [id, length] = [extra.readUInt16LE(at), extra.readUInt16LE(at + 2)];
    const end = Math.min(at + 4 + length, extra.length);
    if (id === large) for (let from = at + 4; from + 8 <= end; from += 8) yield safe(extra.readBigUInt64LE(from));
    at = end;
  }
  throw damaged();
}

const unixFile = 3;
const typeMask = 0o170000;
const linkType = 0o120000;

function entryIn(fixed: Buffer, name: Buffer, extra: Buffer, { base, start }: Directory): ZipEntry {
  const numbers = largeNumbers(extra);
  const number = (at: number) => {
    const short = fixed.readUInt32LE(at);
    return short === elsewhere ? numbers.next().value : short;
  };
  const [size_bytes, packed_bytes, offset] = [number(24), number(20), number(42)];
  const attributes = fixed[5] === unixFile ? fixed.readUInt32LE(38) >>> 16 : 0o100644;
  if (base + offset + header_bytes + packed_bytes > start) throw damaged();
  const text = name.toString();
  return {
    name: text,
    type: text.endsWith('/') ? 'directory' : (attributes & typeMask) === linkType ? 'link' : 'file',
    size_bytes,
    mode: attributes & 0o777,
    packed: {
      at: base + offset,
      size_bytes: packed_bytes,
      method: fixed.readUInt16LE(10),
      is_encrypted: (fixed.readUInt16LE(8) & 1) === 1,
    },
  };
}

/**
 * The entries of a zip, as its directory lists them. Their names are what whoever made it wrote: see `isInside`.
 * @throws InvalidContent; LimitExceeded for more than 1,000,000 entries; what reading throws
 */
export async function* zipEntries(file: RandomAccess): AsyncGenerator<ZipEntry> {
  const directory = await directoryOf(file);
  const { start, end, count } = directory;
  if (count === 0) return;
  await using reader = new ByteReader(chunksOf(file, start, end));
  for (let index = 0; index < count; index++) {
    const fixed = await reader.exactly(entry_bytes);
    if (fixed?.readUInt32LE(0) !== signatures.entry) throw damaged();
    const [name_bytes, extra_bytes, comment_bytes] = [28, 30, 32].map((at) => fixed.readUInt16LE(at)) as [
      number,
      number,
      number,
    ];
    const rest = await reader.exactly(name_bytes + extra_bytes + comment_bytes);
    if (!rest) throw damaged();
    const extra = rest.subarray(name_bytes, name_bytes + extra_bytes);
    yield entryIn(fixed, rest.subarray(0, name_bytes), extra, directory);
  }
}

async function* chunksOf(file: RandomAccess, start: number, end: number): AsyncGenerator<Buffer> {
  for await (const chunk of file.read(start, end)) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** Whether a name stays below the folder into which an archive is unpacked. */
export const isInside = (name: string): boolean =>
  !/[\0\\]/.test(name) &&
  name
    .replace(/\/$/, '')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');

const [stored, deflated] = [0, 8];

/**
 * The content of a file in a zip. An error while it is read means that the file is damaged, or another one than its entry says.
 * @throws InvalidContent for a link, a folder, an encrypted file and methods besides deflate; LimitExceeded for a larger file
 */
export async function zipContent(
  file: RandomAccess,
  { type, size_bytes, packed }: ZipEntry,
  { most_bytes }: { most_bytes: number },
): Promise<AsyncGenerator<Buffer>> {
  if (type !== 'file') throw new InvalidContent('The entry is no file.');
  if (packed.is_encrypted) throw new InvalidContent('The file is encrypted.');
  if (packed.method !== stored && packed.method !== deflated)
    throw new InvalidContent('The file is compressed by an unknown method.');
  if (size_bytes > most_bytes) throw new LimitExceeded(`The file unpacks to more than ${most_bytes} bytes.`);
  const header = await bytesOf(file, packed.at, packed.at + header_bytes);
  if (header.readUInt32LE(0) !== signatures.file) throw damaged();
  const start = packed.at + header_bytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + packed.size_bytes > file.size_bytes) throw damaged();
  const bytes = packed.size_bytes === 0 ? noBytes() : chunksOf(file, start, start + packed.size_bytes);
  return exactly(packed.method === stored ? bytes : inflated(bytes), size_bytes);
}

async function* noBytes(): AsyncGenerator<Buffer> {}

async function* inflated(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pipeline(Readable.from(bytes), createInflateRaw(), () => {}) as AsyncIterable<Buffer>;
  } catch (error) {
    throw ((error as NodeJS.ErrnoException).code ?? '').startsWith('Z_') ? damaged() : error;
  }
}

async function* exactly(chunks: AsyncGenerator<Buffer>, size_bytes: number): AsyncGenerator<Buffer> {
  let sent_bytes = 0;
  for await (const chunk of chunks) {
    sent_bytes += chunk.length;
    if (sent_bytes > size_bytes) throw damaged();
    yield chunk;
  }
  if (sent_bytes < size_bytes) throw damaged();
}
