/**
 * The entries of a tar archive. Our backups are read with `tar-stream`; archives of strangers are not, because it holds headers of 4 MiB, copies global ones for each
 * entry, and gives links and folders names and contents as if they were files.
 */
import { ByteReader } from './byte_reader.ts';
import { InvalidContent, LimitExceeded } from './errors.ts';
import { unpacked } from './unpacking.ts';

const block_bytes = 512;
const maximumEntries = 1_000_000;
/** Longer names are valid on no file system. */
const maximumHeader_bytes = 64 * 1024;

export type TarEntry =
  /** A regular file. Its content can be read until the next entry is requested. */
  | { name: string; content: AsyncIterable<Buffer> }
  /** An entry of another type, or a file that the caller does not want. */
  | { name: string; problem: 'not a regular file' | 'unexpected name' };

interface Header {
  name: string;
  type: string;
  size_bytes: number;
}

/** The fields of an entry that extended headers before it set. */
type Extension = Partial<Pick<Header, 'name' | 'size_bytes'>>;

const textIn = (bytes: Buffer): string => {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
};

/** Octal digits, or a number of eight bytes after the byte 0x80 for sizes above 8 GiB. */
function numberIn(field: Buffer): number {
  if (field[0] === 0x80) return Number(field.readBigUInt64BE(field.length - 8));
  const digits = textIn(field).trim();
  if (!/^[0-7]*$/.test(digits)) throw new InvalidContent('The archive has a damaged header.');
  return Number.parseInt(digits || '0', 8);
}

/** The sum of the bytes of a header, with its checksum field counted as blanks. */
function checksumOf(block: Buffer): number {
  let sum = checksumOfZeros;
  for (let at = 0; at < block_bytes; at++) if (at < 148 || at >= 156) sum += block[at]!;
  return sum;
}

const checksumOfZeros = 8 * 0x20;

/** Undefined for a block of zeros, which is padding. */
function headerIn(block: Buffer): Header | undefined {
  const sum = checksumOf(block);
  if (sum === checksumOfZeros && block[148] === 0) return undefined;
  if (sum !== numberIn(block.subarray(148, 156)))
    throw new InvalidContent('The file is no tar archive, or has a damaged header.');
  const name = textIn(block.subarray(0, 100));
  // The format of POSIX divides long names; that of GNU has something else in this place.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? textIn(block.subarray(345, 500)) : '';
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(block[156]!),
    size_bytes: numberIn(block.subarray(124, 136)),
  };
}

/** Records of the form `<length> <name>=<value>\n`. */
function paxIn(bytes: Buffer): Extension {
  const extension: Extension = {};
  for (let at = 0; at < bytes.length; ) {
    const [, length, key] = /^(\d{1,6}) ([^=\n]{1,100})=/.exec(bytes.toString('utf8', at, at + 128)) ?? [];
    const end = at + Number(length);
    if (key === undefined || end > bytes.length || end <= at)
      throw new InvalidContent('The archive has a damaged header.');
    const value = bytes.toString('utf8', at + length!.length + 1 + Buffer.byteLength(key) + 1, end - 1);
    if (key === 'path') extension.name = value;
    if (key === 'size') extension.size_bytes = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    at = end;
  }
  return extension;
}

async function smallContent(reader: ByteReader, size_bytes: number): Promise<Buffer> {
  if (size_bytes > maximumHeader_bytes) throw new LimitExceeded('The archive has a header above 64 KiB.');
  const padded_bytes = Math.ceil(size_bytes / block_bytes) * block_bytes;
  const bytes = await reader.exactly(padded_bytes);
  if (!bytes) throw new InvalidContent('The archive is broken off.');
  return bytes.subarray(0, size_bytes);
}

/** The content of an entry. Skips the rest of it when the caller has read none or a part. */
class Content {
  readonly #reader: ByteReader;
  #left_bytes: number;
  readonly #padding_bytes: number;

  constructor(reader: ByteReader, size_bytes: number) {
    if (!Number.isSafeInteger(size_bytes)) throw new InvalidContent('The archive has an entry of an impossible size.');
    this.#reader = reader;
    this.#left_bytes = size_bytes;
    this.#padding_bytes = -size_bytes & (block_bytes - 1);
  }

  async *read(): AsyncGenerator<Buffer> {
    while (this.#left_bytes > 0) {
      const chunk = await this.#reader.some(this.#left_bytes);
      if (!chunk) throw new InvalidContent('The archive is broken off.');
      this.#left_bytes -= chunk.length;
      yield chunk;
    }
  }

  async skip(): Promise<void> {
    this.#left_bytes += this.#padding_bytes;
    if (this.#left_bytes === 0) return;
    for await (const _ of this.read());
  }
}

/**
 * The entries of a compressed tar archive that anyone can have made. Only regular files have a content; nothing is written anywhere.
 * @param options.most_bytes of the archive when it is unpacked; sizes are counted while reading
 * @param options.isWanted whether the caller expects this name; it should accept a single form, such as `<32 hex>/<name>`. Names that are absolute or have `.` or
 * `..` as a part never reach it
 * @throws InvalidContent; LimitExceeded, also for more than 1,000,000 entries; what the source throws
 */
export async function* tarEntries(
  source: AsyncIterable<Uint8Array>,
  { most_bytes, isWanted }: { most_bytes: number; isWanted(name: string): boolean },
): AsyncGenerator<TarEntry> {
  await using reader = new ByteReader(unpacked(source, most_bytes));
  let extension: Extension = {};
  let count = 0;
  for (let block = await reader.exactly(block_bytes); block; block = await reader.exactly(block_bytes)) {
    const header = headerIn(block);
    if (!header) continue;
    if (++count > maximumEntries) throw new LimitExceeded('The archive has more than 1,000,000 entries.');
    if (header.type === 'x') extension = { ...extension, ...paxIn(await smallContent(reader, header.size_bytes)) };
    else if (header.type === 'L')
      extension = { ...extension, name: textIn(await smallContent(reader, header.size_bytes)) };
    else {
      const { name, type, size_bytes } = { ...header, ...extension };
      const content = new Content(reader, size_bytes);
      if (!isAttribute(type)) {
        yield entryOf(name, type, content, isWanted);
        extension = {};
      }
      await content.skip();
    }
  }
}

/** The long target of a link, and global headers. Neither matters for regular files. */
const isAttribute = (type: string): boolean => type === 'K' || type === 'g';

function entryOf(name: string, type: string, content: Content, isWanted: (name: string) => boolean): TarEntry {
  const isFile = (type === '0' || type === '\0' || type === '7') && !name.endsWith('/');
  if (!isFile) return { name, problem: 'not a regular file' };
  const isPlain = !name.includes('\0') && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return isPlain && isWanted(name) ? { name, content: content.read() } : { name, problem: 'unexpected name' };
}
