/** Reads files in ZIP archives uploaded by Sentry clients. */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);
const deflate = promisify<Buffer, Buffer>(deflateRaw);

/** The archive is invalid. */
export class BadArchive extends Error {
  override name = 'BadArchive';
}

export interface ArchivedFile {
  /** In stored form. */
  bytes: Buffer;
  is_deflated: boolean;
}

const signatures = { end: 0x06054b50, entry: 0x02014b50, file: 0x04034b50 };
const end_bytes = 22;
const maximumComment_bytes = 65_535;
const maximumFiles = 20_000;

function endOf(archive: Buffer): number {
  for (let at = archive.length - end_bytes; at >= Math.max(0, archive.length - end_bytes - maximumComment_bytes); at--)
    if (archive.readUInt32LE(at) === signatures.end) return at;
  throw new BadArchive('the archive has no directory');
}

function fileAt(archive: Buffer, at: number, size_bytes: number, method: number): ArchivedFile {
  if (archive.readUInt32LE(at) !== signatures.file) throw new BadArchive('the archive is damaged');
  const start = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  if (start + size_bytes > archive.length || (method !== 0 && method !== 8))
    throw new BadArchive('the archive is damaged');
  return { bytes: archive.subarray(start, start + size_bytes), is_deflated: method === 8 };
}

/**
 * The files of an archive by name. Nothing is unpacked.
 * @throws BadArchive also for archives in ZIP64 format, and for those with more than 20,000 files
 */
export function filesIn(archive: Buffer): Map<string, ArchivedFile> {
  try {
    const end = endOf(archive);
    const [count, length, offset] = [
      archive.readUInt16LE(end + 10),
      archive.readUInt32LE(end + 12),
      archive.readUInt32LE(end + 16),
    ];
    if (count > maximumFiles) throw new BadArchive('the archive has too many files');
    // Offsets may or may not include bytes before the archive itself, such as a signature of the program that wrote it.
    const shift = archive.readUInt32LE(offset) === signatures.entry || count === 0 ? 0 : end - length - offset;
    const files = new Map<string, ArchivedFile>();
    for (let index = 0, at = offset + shift; index < count; index++) {
      if (archive.readUInt32LE(at) !== signatures.entry) throw new BadArchive('the archive is damaged');
      const [name_bytes, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place)) as [
        number,
        number,
        number,
      ];
      const name = archive.toString('utf8', at + 46, at + 46 + name_bytes);
      files.set(
        name,
        fileAt(
          archive,
          archive.readUInt32LE(at + 42) + shift,
          archive.readUInt32LE(at + 20),
          archive.readUInt16LE(at + 10),
        ),
      );
      at += 46 + name_bytes + extra + comment;
    }
    return files;
  } catch (error) {
    throw error instanceof RangeError ? new BadArchive('the archive is damaged') : error;
  }
}

/**
 * The content of a file.
 * @throws BadArchive if it is larger than allowed, or cannot be unpacked
 */
export async function unpacked({ bytes, is_deflated }: ArchivedFile, at_most_bytes: number): Promise<Buffer> {
  if (bytes.length > at_most_bytes) throw new BadArchive('a file is too large');
  if (!is_deflated) return bytes;
  try {
    return await inflate(bytes, { maxOutputLength: at_most_bytes });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new BadArchive(isLarge ? 'a file is too large' : 'the archive is damaged', { cause: error });
  }
}

/** The bytes of a file, deflated. */
export const deflated = async ({ bytes, is_deflated }: ArchivedFile): Promise<Buffer> =>
  is_deflated ? bytes : deflate(bytes);
